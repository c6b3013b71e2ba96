# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Mounts file systems with the old call and with the new ones."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
OPEN_TREE, FSOPEN = 428, 430
AT_FDCWD, OPEN_TREE_CLONE = -100, 1
results = {
    "mount": libc.mount(b"none", b"/mnt", b"tmpfs", ctypes.c_ulong(0), b"size=4096"),
    "bind": libc.mount(b"/", b"/mnt", None, ctypes.c_ulong(4096), None),
    "umount": libc.umount2(b"/mnt", 2),
    "fsopen": libc.syscall(ctypes.c_long(FSOPEN), b"tmpfs", ctypes.c_long(0)),
    "open_tree": libc.syscall(
        ctypes.c_long(OPEN_TREE), ctypes.c_long(AT_FDCWD), b"/", ctypes.c_long(OPEN_TREE_CLONE)
    ),
}
for name, result in results.items():
    print("PWNED" if result >= 0 else f"blocked {name}")
if results["mount"] == 0:
    libc.umount2(b"/mnt", 2)
