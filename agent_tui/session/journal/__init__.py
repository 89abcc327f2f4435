"""What a session leaves on disk: an append-only file of entries that form a tree."""
