"""A run: its loop's state, checkpoints, metrics, guards, rollouts on disk, and report."""
