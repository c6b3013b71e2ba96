# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sets a limit of the service, to what it is."
# ///

import os
import resource

for pid in (int("{PARENT_PID}"), os.getppid()):
    for which in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_CORE):
        try:
            present = resource.prlimit(pid, which)
            resource.prlimit(pid, which, present)
        except (OSError, ValueError) as error:
            print("blocked", error)
        else:
            print("PWNED")
