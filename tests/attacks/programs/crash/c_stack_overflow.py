# /// attack
# category = "crash"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "time_limit_exceeded"]
# summary = "Recurses without a limit until the C stack ends."
# ///

import sys

sys.setrecursionlimit(10**9)
sys.setrecursionlimit(2**31 - 1)


class Nested:
    def __getattr__(self, name):
        return getattr(self, name + "x")


def deep(value):
    return sorted([value], key=deep)


deep(Nested())
