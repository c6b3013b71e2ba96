# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Watches whole file systems, asks for quotas and looks cookies up."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
fanotify, quotactl = {"x86_64": (300, 179), "aarch64": (262, 60)}[os.uname().machine]
FAN_CLASS_NOTIF, FAN_REPORT_FID, Q_SYNC = 0, 0x200, 0x80000100
for flags in (FAN_CLASS_NOTIF, FAN_REPORT_FID):
    result = libc.syscall(ctypes.c_long(fanotify), ctypes.c_long(flags), ctypes.c_long(0))
    print("PWNED" if result >= 0 else f"blocked {ctypes.get_errno()}")
result = libc.syscall(ctypes.c_long(quotactl), ctypes.c_long(Q_SYNC), None, ctypes.c_long(0), None)
print("PWNED" if result >= 0 else f"blocked {ctypes.get_errno()}")
