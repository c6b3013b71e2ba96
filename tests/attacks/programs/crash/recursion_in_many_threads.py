# /// attack
# category = "crash"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "time_limit_exceeded", "wrong_answer"]
# summary = "Overflows the stacks of several threads at once."
# ///

import sys
import threading

sys.setrecursionlimit(10**8)
try:
    threading.stack_size(64 << 20)
except ValueError:
    pass


def deep(value):
    return max([value], key=deep)


threads = [threading.Thread(target=deep, args=(number,)) for number in range(4)]
for thread in threads:
    thread.start()
