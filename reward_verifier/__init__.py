"""The client of a verifier service, in the base installation: it needs httpx and nothing else.

`protocol` decides, without input or output, which requests to send, how long to wait and how to
read the responses; `client` sends them, from code that waits and from code that awaits.
"""
