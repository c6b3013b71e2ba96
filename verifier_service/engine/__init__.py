"""Judging a request: admission, cache, tasks for workers, verdicts in order, response."""
