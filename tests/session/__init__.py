"""The session: turns, retries, queues, approvals, totals."""
