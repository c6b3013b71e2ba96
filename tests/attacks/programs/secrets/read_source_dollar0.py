# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:EXPECT"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Reads its own source file, where careless executors append the tests."
# ///

import inspect
import linecache
import os
import sys

for path in (sys.argv[0], globals().get("__file__", ""), "/proc/self/cmdline", "/proc/self/fd/0"):
    try:
        if path:
            with open(path, "rb") as file:
                print(file.read(1 << 16))
    except OSError as error:
        print("blocked", error)
print(sys.argv, sys.orig_argv, os.path.abspath("."))
print(list(linecache.cache.items())[:50])
try:
    print(inspect.getsource(sys.modules["__main__"]))
except (OSError, TypeError) as error:
    print("blocked", error)
