# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Switches off address randomisation for what it may start."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC, QUERY = 0x0040000, 0x0400000, 0xFFFFFFFF
for flag in (ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC):
    before = libc.personality(ctypes.c_ulong(QUERY))
    if libc.personality(ctypes.c_ulong(max(before, 0) | flag)) >= 0:
        print("PWNED")
    else:
        print("blocked", ctypes.get_errno())
