"""The client of a verifier service, in the base installation: it needs httpx and nothing else.

`protocol` decides, without input or output, which requests to send and how long to wait; `verdict`
reads the responses; `client` sends and waits, for code that blocks and for code that awaits.
"""
