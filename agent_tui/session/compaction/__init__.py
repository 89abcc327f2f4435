"""Making room in the context: a summary takes the place of the older part of the transcript."""
