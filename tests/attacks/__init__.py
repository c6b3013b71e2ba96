"""Hostile programs, and benign ones beside them, for testing the sandbox and the judge."""
