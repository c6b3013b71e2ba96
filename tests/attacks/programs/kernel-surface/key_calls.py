# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Joins a keyring, requests a key and reads what the session holds."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
request_key, keyctl = {"x86_64": (249, 250), "aarch64": (218, 219)}[os.uname().machine]
JOIN_SESSION, DESCRIBE, GET_PERSISTENT = 1, 6, 22
results = [
    libc.syscall(ctypes.c_long(keyctl), ctypes.c_long(JOIN_SESSION), None),
    libc.syscall(ctypes.c_long(keyctl), ctypes.c_long(DESCRIBE), ctypes.c_long(-3), None, None),
    libc.syscall(ctypes.c_long(keyctl), ctypes.c_long(GET_PERSISTENT), ctypes.c_long(-1), None),
    libc.syscall(ctypes.c_long(request_key), b"user", b"pwn", None, ctypes.c_long(-3)),
]
for result in results:
    print("PWNED" if result >= 0 else "blocked")
