"""Documents of several formats: read within bounds, and compared with a wanted value."""
