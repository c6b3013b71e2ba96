# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "runtime_error", "sandbox_violation", "output_limit_exceeded"]
# summary = "Sets its output pipe to non-blocking, tiny and asynchronous, then writes through it."
# ///

import fcntl
import os

for descriptor in (0, 1, 2):
    for command, value in (
        (fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC | os.O_APPEND | os.O_DIRECT),
        (fcntl.F_SETPIPE_SZ, 4096),
        (fcntl.F_SETOWN, 1),
    ):
        try:
            fcntl.fcntl(descriptor, command, value)
        except OSError:
            pass
for number in range(10_000):
    try:
        os.write(1, b"%d\n" % number)
    except BlockingIOError:
        pass
