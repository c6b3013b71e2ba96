# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "hang"
# expected = ["wrong_answer", "time_limit_exceeded"]
# summary = "Reads from its own output pipes, so that the executor's reader finds nothing."
# ///

import os

for name in ("/proc/self/fd/1", "/dev/stdout", "/proc/self/fd/2"):
    try:
        descriptor = os.open(name, os.O_RDWR | os.O_NONBLOCK)
        os.write(descriptor, b"x" * 100)
        os.read(descriptor, 1 << 16)
    except OSError as error:
        print("blocked", error)
print("done")
