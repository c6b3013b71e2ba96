# /// attack
# category = "crash"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "sandbox_violation", "wrong_answer"]
# summary = "Touches a mapped page behind the end of its file."
# ///

import ctypes
import mmap
import os
import tempfile

try:
    with tempfile.TemporaryFile(dir=".") as file:
        file.write(b"x" * 8192)
        file.flush()
        page = mmap.mmap(file.fileno(), 8192)
        os.ftruncate(file.fileno(), 0)
        print(page[4096])
except OSError as error:
    print("blocked", error)
    ctypes.memset(1, 0, 1)
