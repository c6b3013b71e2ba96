# /// control
# summary = "Catches errors, writes to its error output and leaves by sys.exit(0)."
# expected_stdout = "division by zero\nKeyError\nbye\n"
# ///

import atexit
import sys

atexit.register(print, "bye")
try:
    print(1 // 0)
except ZeroDivisionError as error:
    print(str(error).replace("integer ", "").replace(" or modulo", ""))
try:
    print({}["missing"])
except KeyError as error:
    print(type(error).__name__)
print("a note", file=sys.stderr)
sys.exit(0)
