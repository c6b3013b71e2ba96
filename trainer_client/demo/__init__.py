"""The demonstrations: a tiny model learns to add, or to call Python, against the real service."""
