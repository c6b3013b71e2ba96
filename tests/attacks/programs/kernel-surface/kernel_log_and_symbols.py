# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reads the kernel's log, addresses and memory."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
READ_ALL, SIZE_BUFFER = 3, 10
if libc.klogctl(SIZE_BUFFER, None, 0) > 0:
    print("PWNED")
buffer = ctypes.create_string_buffer(4096)
if libc.klogctl(READ_ALL, buffer, 4096) > 0:
    print("PWNED")
paths = ["/proc/kallsyms", "/proc/modules", "/proc/config.gz", "/proc/kcore", "/dev/kmsg"]
paths += ["/dev/mem", "/sys/kernel/notes", "/sys/kernel/debug", "/boot/config"]
for path in paths:
    try:
        os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
