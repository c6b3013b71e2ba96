# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Starts a thread that shares no descriptors, so that it can open as many again."
# ///

import ctypes
import os
import platform

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
CLONE_FILES, THREAD = 0x400, 0x3D0F00 & ~0x280000  # no thread-local storage of its own
clone, close_range = {"x86_64": (56, 436), "aarch64": (220, 436)}[platform.machine()]
stack = ctypes.create_string_buffer(2**16)
# The new thread returns from the system call onto this stack and has nothing there to go on with,
# so it ends the process by a signal: a thread that was started is seen by that as well.
top = ctypes.addressof(stack) + 2**15
for flags in (THREAD & ~CLONE_FILES, 0x7D0F00 & ~CLONE_FILES):
    if libc.syscall(clone, flags, ctypes.c_void_p(top), None, None, None) > 0:
        os.write(1, b"PWNED\n")
    else:
        print("blocked", ctypes.get_errno())
CLOSE_RANGE_UNSHARE = 2
if libc.syscall(close_range, 0xFFFFFFFF, 0xFFFFFFFF, CLOSE_RANGE_UNSHARE) == 0:
    print("PWNED")
