# /// attack
# category = "output"
# kind = "function"
# success = "hang"
# expected = ["invalid_output", "runtime_error", "wrong_answer", "time_limit_exceeded", "sandbox_violation"]
# summary = "Announces a long frame on every descriptor, sends half of it and waits."
# ///

import os
import struct
import time


def solve(*_):
    for descriptor in range(3, 256):
        for header in (struct.pack("<I", 4096), struct.pack(">I", 4096)):
            try:
                os.set_blocking(descriptor, False)
                os.write(descriptor, header + b'{"value": ')
            except OSError:
                break
    time.sleep(3600)
