# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Asks the kernel about the service's process: session, priority, processors, limits, clocks."
# ///

import os
import resource
import time

pid = int("{PARENT_PID}")
queries = [
    lambda: os.getpgid(pid),
    lambda: os.getsid(pid),
    lambda: os.getpriority(os.PRIO_PROCESS, pid),
    lambda: os.sched_getaffinity(pid),
    lambda: os.sched_getscheduler(pid),
    lambda: os.kill(pid, 0),
    lambda: os.pidfd_open(pid),
    lambda: resource.prlimit(pid, resource.RLIMIT_AS),
    lambda: time.clock_gettime((~pid << 3) | 2),
]
for query in queries:
    try:
        query()
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
