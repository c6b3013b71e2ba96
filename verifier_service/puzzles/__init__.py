"""Exact checkers of puzzles, which need no package."""
