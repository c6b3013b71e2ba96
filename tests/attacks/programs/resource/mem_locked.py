# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "runtime_error", "memory_limit_exceeded", "sandbox_violation"]
# summary = "Locks memory so that the machine cannot page it out."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
block = ctypes.create_string_buffer(16 << 20)
if libc.mlock(block, ctypes.c_size_t(16 << 20)) == 0:
    print("PWNED")
else:
    print("blocked", ctypes.get_errno())
if libc.mlockall(3) == 0:
    print("PWNED")
else:
    print("blocked", ctypes.get_errno())
