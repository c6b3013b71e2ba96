# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Replaces itself by another program without making a child."
# ///

import os
import sys

programs = [
    ["/bin/echo", "PWNED"],
    ["/bin/sh", "-c", "echo PWNED"],
    [sys.executable or "/usr/bin/python3", "-c", "print('PWNED')"],
    ["/proc/self/exe", "-c", "print('PWNED')"],
    ["/lib64/ld-linux-x86-64.so.2", "/bin/echo", "PWNED"],
]
for program in programs:
    try:
        os.execv(program[0], program)
    except OSError as error:
        print("blocked", error, flush=True)
