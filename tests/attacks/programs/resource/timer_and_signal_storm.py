# /// attack
# category = "resource"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "runtime_error", "time_limit_exceeded"]
# summary = "Sets interval timers and queues signals to itself as fast as it can."
# ///

import os
import signal
import time

for number in (signal.SIGALRM, signal.SIGVTALRM, signal.SIGPROF, signal.SIGUSR1):
    signal.signal(number, lambda *_: None)
for timer in (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF):
    try:
        signal.setitimer(timer, 0.0001, 0.0001)
    except OSError as error:
        print("blocked", error)
end = time.monotonic() + 0.5
while time.monotonic() < end:
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
    except OSError:
        break
print("done")
