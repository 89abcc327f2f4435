"""The test suite; `python -m tests` runs all checks."""
