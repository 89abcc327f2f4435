"""Killing the program at random moments: what is on disk must always be gone on with."""
