"""A light GRPO trainer whose rewards come from a verifier service over HTTP."""
