"""Large requests: each is read and encoded by a process of its own."""
