# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sets the machine's clock, to what it is."
# ///

import ctypes
import time

libc = ctypes.CDLL(None, use_errno=True)
try:
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    print("PWNED")
except OSError as error:
    print("blocked", error)
offset = (ctypes.c_long * 2)(0, 0)
if libc.adjtime(ctypes.byref(offset), None) == 0:
    print("PWNED")
else:
    print("blocked", ctypes.get_errno())
