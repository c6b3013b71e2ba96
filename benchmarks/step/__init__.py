"""The two sides of `benchmarks/grpo_step.py`, each run in a process of its own."""
