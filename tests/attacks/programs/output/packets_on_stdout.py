# /// attack
# category = "output"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "output_limit_exceeded"]
# summary = "Has its output pipe keep each byte as a packet, which the service reads one by one."
# ///

import fcntl
import os

for descriptor in (1, 2):
    try:
        flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
        fcntl.fcntl(descriptor, fcntl.F_SETFL, flags | os.O_DIRECT)
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED", flush=True)
for _ in range(2_000):
    os.write(1, b"\n")
