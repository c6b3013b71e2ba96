# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Moves pages between files and pipes without copying, as Dirty Pipe did."
# ///

import os

try:
    reader, writer = os.pipe()
    source = os.open(os.__file__, os.O_RDONLY)
    if os.splice(source, writer, 1, offset_src=0) > 0:
        print("PWNED")
except OSError as error:
    print("blocked", error)
