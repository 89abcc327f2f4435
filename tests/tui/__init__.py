"""The chat on the screen: what a person sees and does."""
