"""HTTP: routes, one call from its first byte to its last, errors as responses."""
