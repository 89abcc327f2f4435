"""What puts the parts together, remembers and retries."""
