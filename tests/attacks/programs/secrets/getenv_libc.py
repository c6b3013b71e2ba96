# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:ENV"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Asks the C library for the variable after Python's own copy was cleared."
# ///

import ctypes
import os

libc = ctypes.CDLL(None)
for name in ("getenv", "secure_getenv"):
    function = getattr(libc, name)
    function.restype = ctypes.c_char_p
    print(name, function(b"VERIFIER_CANARY_ENV"))
print(os.getenv("VERIFIER_CANARY_ENV"))
