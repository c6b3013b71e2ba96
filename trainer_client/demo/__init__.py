"""The demonstration: a tiny model learns to add against the real verifier service."""
