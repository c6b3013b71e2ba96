# /// attack
# category = "ipc"
# kind = "stdio"
# success = "file:/dev/shm/*pwn*"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Leaves named shared memory and a named semaphore behind."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
if libc.shm_open(b"/pwn_segment", os.O_CREAT | os.O_RDWR, 0o600) < 0:
    print("blocked", ctypes.get_errno())
libc.sem_open.restype = ctypes.c_void_p
if not libc.sem_open(b"/pwn_semaphore", os.O_CREAT, 0o600, 1):
    print("blocked", ctypes.get_errno())
try:
    with open("/dev/shm/pwn_file", "w") as file:
        file.write("x")
except OSError as error:
    print("blocked", error)
