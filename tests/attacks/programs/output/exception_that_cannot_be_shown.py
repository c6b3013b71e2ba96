# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "time_limit_exceeded", "output_limit_exceeded"]
# summary = "Dies of an exception that fails, or never ends, when it is turned into text."
# ///

import sys


class Unshowable(Exception):
    def __str__(self):
        raise Unshowable

    __repr__ = __str__

    @property
    def __cause__(self):
        return self

    @property
    def __traceback__(self):
        raise KeyboardInterrupt


sys.excepthook = None
sys.stderr = None
raise Unshowable
