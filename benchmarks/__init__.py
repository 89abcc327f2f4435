"""Measurements; `python -m benchmarks` runs them and prints ratios against a baseline."""
