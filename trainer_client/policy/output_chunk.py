"""The part of a batch whose logits exist at a time."""

CHUNK_TOKENS = 512
"""Tokens in one forward pass of the output layer."""
