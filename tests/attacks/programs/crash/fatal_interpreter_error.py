# /// attack
# category = "crash"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "sandbox_violation"]
# summary = "Makes the interpreter end itself with a fatal error."
# ///

import ctypes

ctypes.pythonapi.Py_FatalError(b"sandbox_error: the worker failed")
