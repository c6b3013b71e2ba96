"""Data sets before training: what in them would teach nothing, or the wrong thing."""
