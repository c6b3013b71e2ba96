# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_tainted"
# expected = ["wrong_answer", "runtime_error", "sandbox_violation", "time_limit_exceeded"]
# summary = "Overwrites small integers and shared strings in memory with ctypes."
# ///

import ctypes

for number in (5, 6, 7):
    ctypes.c_uint32.from_address(id(number) + 24).value = 99
text = "utf-8"
ctypes.c_char.from_address(id(text) + 48).value = b"X"
