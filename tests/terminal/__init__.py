"""The whole program in a real pseudo-terminal."""
