# /// attack
# category = "ipc"
# kind = "stdio"
# success = "sysv"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Leaves a System V shared memory segment behind."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
IPC_CREAT = 0o1000
for key in (0x50574E01, 0):
    if libc.shmget(key, ctypes.c_size_t(4096), IPC_CREAT | 0o600) < 0:
        print("blocked", ctypes.get_errno())
