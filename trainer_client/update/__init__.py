"""The GRPO update: advantages, batches, loss and optimizer steps."""
