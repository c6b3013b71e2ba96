# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "runtime_error", "memory_limit_exceeded", "sandbox_violation"]
# summary = "Takes a gigabyte and a half in files that exist only in memory."
# ///

import os

try:
    for _ in range(24):
        descriptor = os.memfd_create("pwn_memory")
        for _ in range(64):
            os.write(descriptor, b"x" * (1 << 20))
    print("PWNED")
except OSError as error:
    print("blocked", error)
