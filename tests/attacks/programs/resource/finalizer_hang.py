# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded", "wrong_answer"]
# summary = "Spins while the interpreter takes its objects apart."
# ///

import sys


class Sticky:
    def __del__(self):
        while True:
            pass


sys.sticky = Sticky()
anchor = Sticky()
print("done", flush=True)
