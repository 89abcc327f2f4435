"""Tests of the built-in tools, called as the loop calls them."""
