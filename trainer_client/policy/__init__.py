"""The policy: its model, adapters, log-probabilities, memory and sharding."""
