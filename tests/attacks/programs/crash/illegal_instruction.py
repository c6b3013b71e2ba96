# /// attack
# category = "crash"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "sandbox_violation", "wrong_answer"]
# summary = "Executes an instruction that does not exist."
# ///

import ctypes
import mmap

try:
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
except OSError as error:
    print("blocked", error)
else:
    page.write(b"\x0f\x0b\x0f\x0b" if ctypes.sizeof(ctypes.c_longdouble) == 16 else b"\0\0\0\0")
    ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
