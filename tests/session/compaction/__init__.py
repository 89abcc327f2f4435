"""Tests of making room in the context."""
