# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded"]
# summary = "Catches the signals that announce the end of its processor time and goes on."
# ///

import resource
import signal

for number in (signal.SIGXCPU, signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGTERM):
    signal.signal(number, lambda *_: None)
try:
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (hard, hard))
except (OSError, ValueError):
    pass
while True:
    try:
        while True:
            pass
    except BaseException:
        continue
