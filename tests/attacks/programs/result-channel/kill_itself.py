# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "sandbox_violation"]
# summary = "Kills itself with SIGKILL, as the kernel or an operator would."
# ///

import os
import signal

os.kill(os.getpid(), signal.SIGKILL)
