"""The policy: its model, adapters, log-probabilities, memory savers and sharding."""
