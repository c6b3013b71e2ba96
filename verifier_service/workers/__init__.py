"""Processes that judge, and the parent's side of them: start, limits, replacement."""
