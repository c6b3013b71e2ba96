# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Leaves each kind of namespace in turn."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
flags = {
    "mount": 0x00020000,
    "cgroup": 0x02000000,
    "uts": 0x04000000,
    "ipc": 0x08000000,
    "pid": 0x20000000,
    "net": 0x40000000,
    "time": 0x00000080,
}
for name, flag in flags.items():
    if libc.unshare(flag) == 0:
        print("PWNED")
    else:
        print("blocked", name, ctypes.get_errno())
