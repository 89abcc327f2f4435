"""Measurements; `python -m benchmarks` runs them all and prints ratios against a baseline."""
