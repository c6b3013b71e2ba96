# /// attack
# category = "output"
# kind = "stdio"
# success = "outsize"
# expected = ["output_limit_exceeded", "time_limit_exceeded", "wrong_answer"]
# summary = "Floods from an exit handler and a thread after its answer was printed."
# ///

import atexit
import os
import threading

print("3 1 2", flush=True)


def flood():
    for _ in range(1 << 13):
        os.write(1, b"\n" * 65_536)


atexit.register(flood)
threading.Thread(target=flood).start()
