# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Makes administrators' calls with arguments that do nothing, and looks how far they get."
# ///

import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
x86 = os.uname().machine == "x86_64"
calls = {
    "reboot": ((169 if x86 else 142), 0, 0, 0, 0),
    "init_module": ((175 if x86 else 105), 0, 0, 0),
    "finit_module": ((313 if x86 else 273), -1, 0, 0),
    "delete_module": ((176 if x86 else 106), 0, 0),
    "kexec_load": ((246 if x86 else 104), 0, 0, 0, 1 << 40),
    "swapon": ((167 if x86 else 224), 0, 0),
    "acct": ((163 if x86 else 89), 1),
    "sethostname": ((170 if x86 else 161), 0, 1 << 20),
}
refused = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EBADF)
for name, call in calls.items():
    result = libc.syscall(*(ctypes.c_long(value) for value in call))
    if result >= 0 or ctypes.get_errno() not in refused:
        print("reached", name, ctypes.get_errno())
        print("PWNED")
    else:
        print("blocked", name, ctypes.get_errno())
