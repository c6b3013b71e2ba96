"""The API process: routes, one call from its first byte to its last, errors as HTTP answers."""
