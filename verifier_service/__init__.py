"""A reward verifier: judges model completions, in batches, over HTTP."""

__version__ = "0.2.0"
