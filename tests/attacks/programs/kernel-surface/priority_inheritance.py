# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Uses futexes with priority inheritance (CVE-2014-3153, CVE-2021-3347) and merges pages."
# ///

import ctypes
import errno
import mmap
import os

libc = ctypes.CDLL(None, use_errno=True)
futex = {"x86_64": 202, "aarch64": 98}[os.uname().machine]
word, second = ctypes.c_uint32(0), ctypes.c_uint32(0)
timeout = (ctypes.c_long * 2)(0, 1)
FUTEX_PRIVATE = 128
for operation in (6, 7, 8, 11, 12, 13):
    for option in (0, FUTEX_PRIVATE):
        ctypes.set_errno(0)
        result = libc.syscall(
            *(ctypes.c_long(futex), ctypes.byref(word), operation | option, 0, timeout),
            *(ctypes.byref(second), 0),
        )
        print("PWNED" if result != -1 or ctypes.get_errno() != errno.EPERM else "blocked")
MADV_MERGEABLE = 12
try:
    mmap.mmap(-1, mmap.PAGESIZE).madvise(MADV_MERGEABLE)
except OSError as error:
    print("blocked", error)
else:
    print("PWNED")
