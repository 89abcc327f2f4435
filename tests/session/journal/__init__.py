"""What a session leaves on disk, and how it is gone on with."""
