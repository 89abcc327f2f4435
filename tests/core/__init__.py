"""Tests of the leaf modules."""
