# /// attack
# category = "ipc"
# kind = "stdio"
# success = "file:/dev/mqueue/pwn*"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Leaves a POSIX message queue behind."
# ///

import ctypes
import os

try:
    library = ctypes.CDLL("librt.so.1", use_errno=True)
except OSError:
    library = ctypes.CDLL(None, use_errno=True)
if library.mq_open(b"/pwn_queue", os.O_CREAT | os.O_RDWR, 0o600, None) < 0:
    print("blocked", ctypes.get_errno())
