# /// attack
# category = "crash"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "time_limit_exceeded", "sandbox_violation", "wrong_answer"]
# summary = "Frees None, the type of types and the current thread's state."
# ///

import ctypes

for item in (None, type, True, (), str):
    ctypes.c_ssize_t.from_address(id(item)).value = 1
for _ in range(10):
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(None))
raise SystemExit
