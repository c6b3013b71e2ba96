"""What a run keeps and tells: checkpoints, metrics, guards, rollouts, the report."""
