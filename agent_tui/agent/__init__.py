"""The loop: turns, tool batches, queues; it knows no screen, no network and no disk."""
