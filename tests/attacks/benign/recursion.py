# /// control
# summary = "Recurses five thousand calls deep and caches results."
# expected_stdout = "5000 354224848179261915075\n"
# ///

import functools
import sys

sys.setrecursionlimit(20_000)


def depth(number):
    return 0 if number == 0 else 1 + depth(number - 1)


@functools.cache
def fibonacci(number):
    return number if number < 2 else fibonacci(number - 1) + fibonacci(number - 2)


print(depth(5000), fibonacci(100))
