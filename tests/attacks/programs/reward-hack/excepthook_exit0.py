# /// attack
# category = "reward-hack"
# kind = "function"
# success = "verdict_passed"
# expected = ["runtime_error", "wrong_answer", "invalid_output"]
# summary = "Ends with success whenever an exception would be reported."
# ///

import os
import sys
import threading


def succeed(*_):
    os._exit(0)


sys.excepthook = sys.unraisablehook = threading.excepthook = sys.displayhook = succeed


def solve(*_):
    raise ValueError("whatever")
