"""The way of a call's body: taken in, read, and, where it is large, in a process of its own."""
