"""The hands: files and shell."""
