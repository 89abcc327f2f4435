"""The chat as plain lines."""
