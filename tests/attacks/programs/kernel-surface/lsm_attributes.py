# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reads and changes its security labels."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
LSM_GET_SELF_ATTR, LSM_LIST_MODULES = 459, 461
buffer = ctypes.create_string_buffer(256)
size = ctypes.c_uint32(256)
for call in (
    (LSM_LIST_MODULES, ctypes.addressof(buffer), ctypes.addressof(size), 0),
    (LSM_GET_SELF_ATTR, 100, ctypes.addressof(buffer), ctypes.addressof(size), 0),
):
    result = libc.syscall(*(ctypes.c_long(value) for value in call))
    print("PWNED" if result >= 0 else f"blocked {ctypes.get_errno()}")
try:
    with open("/proc/self/attr/current", "r+") as file:
        file.read()
    print("PWNED")
except OSError as error:
    print("blocked", error)
