"""One script per claim; run as `make bench`."""
