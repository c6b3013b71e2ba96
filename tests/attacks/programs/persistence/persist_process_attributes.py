# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_sees"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Changes its umask, nice value and signal mask and looks whether a later run inherits them."
# ///

import os
import signal

try:
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    umask = os.umask(0o123)
    if umask == 0o123 or signal.SIGUSR1 in mask or os.environ.get("PWN") == "1":
        print("PERSISTED")
    os.environ["PWN"] = "1"
    os.nice(3)
except OSError as error:
    print("blocked", error)
