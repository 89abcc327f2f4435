"""The engine's suite, written from its specification."""
