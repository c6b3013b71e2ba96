# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sets the priority, the processors and the scheduler of the service, to what they are."
# ///

import os

pid = int("{PARENT_PID}")
attempts = [
    lambda: os.setpriority(os.PRIO_PROCESS, pid, os.getpriority(os.PRIO_PROCESS, pid)),
    lambda: os.sched_setaffinity(pid, os.sched_getaffinity(pid)),
    lambda: os.sched_setscheduler(pid, os.sched_getscheduler(pid), os.sched_getparam(pid)),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
