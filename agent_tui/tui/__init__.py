"""The face: a Textual application over one session."""
