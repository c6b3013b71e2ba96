# /// attack
# category = "ipc"
# kind = "stdio"
# success = "benign_sees"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Hands a message to a later execution through a System V segment."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.shmat.restype = ctypes.c_void_p
IPC_CREAT = 0o1000
identifier = libc.shmget(0x50574E04, ctypes.c_size_t(4096), IPC_CREAT | 0o600)
if identifier < 0:
    print("blocked", ctypes.get_errno())
else:
    address = libc.shmat(identifier, None, 0)
    print(ctypes.string_at(address, 9).decode("latin-1"))
    ctypes.memmove(address, b"PERSISTED", 9)
