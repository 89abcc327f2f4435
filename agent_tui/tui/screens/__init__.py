"""Screens that lie over the chat."""
