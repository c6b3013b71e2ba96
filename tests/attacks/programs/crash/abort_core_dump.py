# /// attack
# category = "crash"
# kind = "stdio"
# success = "file:{OUTSIDE_DIR}/*core*"
# expected = ["runtime_error", "sandbox_violation"]
# summary = "Asks for a core dump and aborts in a folder of the service."
# ///

import os
import resource

try:
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    os.chdir("{OUTSIDE_DIR}")
except (OSError, ValueError):
    pass
os.abort()
