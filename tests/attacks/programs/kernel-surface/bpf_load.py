# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Creates a BPF map and loads a two-instruction BPF program."
# ///

import ctypes
import os
import struct

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
number = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
instructions = struct.pack("<BBhiBBhi", 0xB7, 0, 0, 0, 0x95, 0, 0, 0)
code = ctypes.create_string_buffer(instructions, len(instructions))
licence = ctypes.create_string_buffer(b"GPL")
SOCKET_FILTER, ARRAY, MAP_CREATE, PROG_LOAD = 1, 2, 0, 5
program = struct.pack(
    "IIQQ", SOCKET_FILTER, 2, ctypes.addressof(code), ctypes.addressof(licence)
).ljust(120, b"\0")
table = struct.pack("IIII", ARRAY, 4, 4, 1).ljust(120, b"\0")
for command, attribute in ((MAP_CREATE, table), (PROG_LOAD, program)):
    result = libc.syscall(
        ctypes.c_long(number), ctypes.c_long(command), attribute, ctypes.c_long(120)
    )
    print("PWNED" if result >= 0 else f"blocked {ctypes.get_errno()}")
