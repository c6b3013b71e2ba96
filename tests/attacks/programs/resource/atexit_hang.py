# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded", "wrong_answer"]
# summary = "Ends its main program and spins in an exit handler."
# ///

import atexit


@atexit.register
def spin():
    while True:
        pass


print("done", flush=True)
