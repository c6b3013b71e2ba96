# /// attack
# category = "persistence"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Stores a key in the kernel's keyring of its user."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
add_key, keyctl = {"x86_64": (248, 250), "aarch64": (217, 219)}[os.uname().machine]
KEYCTL_UNLINK = 9
for keyring in (-4, -3, -5):
    key = libc.syscall(
        ctypes.c_long(add_key),
        b"user",
        b"pwn_key",
        b"x",
        ctypes.c_long(1),
        ctypes.c_long(keyring),
    )
    if key > 0:
        print("PWNED")
        libc.syscall(
            ctypes.c_long(keyctl),
            ctypes.c_long(KEYCTL_UNLINK),
            ctypes.c_long(key),
            ctypes.c_long(keyring),
        )
    else:
        print("blocked", ctypes.get_errno())
