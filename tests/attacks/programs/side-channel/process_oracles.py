# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Asks the kernel about the service's process: session, priority, processors, limits, clocks."
# ///

import ctypes
import os
import platform
import resource
import time

pid = int("{PARENT_PID}")
clock = (~pid << 3) | 2
libc = ctypes.CDLL(None, use_errno=True)


def wait_for_clock():
    number = 230 if platform.machine() == "x86_64" else 115
    a_nanosecond = (ctypes.c_long * 2)(0, 1)
    if libc.syscall(ctypes.c_long(number), ctypes.c_long(clock), 1, a_nanosecond, None):
        raise OSError(ctypes.get_errno(), "clock_nanosleep")


queries = [
    lambda: os.getpgid(pid),
    lambda: os.getsid(pid),
    lambda: os.getpriority(os.PRIO_PROCESS, pid),
    lambda: os.sched_getaffinity(pid),
    lambda: os.sched_getscheduler(pid),
    lambda: os.kill(pid, 0),
    lambda: os.pidfd_open(pid),
    lambda: resource.prlimit(pid, resource.RLIMIT_AS),
    lambda: time.clock_gettime(clock),
    lambda: time.clock_getres(clock),
    wait_for_clock,
]
for query in queries:
    try:
        query()
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
