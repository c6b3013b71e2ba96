# /// attack
# category = "ipc"
# kind = "stdio"
# success = "sysv"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Leaves System V semaphores and a message queue behind."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
IPC_CREAT = 0o1000
for result in (
    libc.semget(0x50574E02, 1, IPC_CREAT | 0o600),
    libc.msgget(0x50574E03, IPC_CREAT | 0o600),
):
    if result < 0:
        print("blocked", ctypes.get_errno())
