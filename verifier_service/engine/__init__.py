"""Judging a request: bounds, cache, tasks for workers, verdicts in order, the response."""
