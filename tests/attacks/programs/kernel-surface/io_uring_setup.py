# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sets up an io_uring, which does file and network work past any system call filter."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
IO_URING_SETUP = 425
parameters = (ctypes.c_uint32 * 30)()
result = libc.syscall(ctypes.c_long(IO_URING_SETUP), ctypes.c_long(2), ctypes.byref(parameters))
print("PWNED" if result >= 0 else f"blocked {ctypes.get_errno()}")
