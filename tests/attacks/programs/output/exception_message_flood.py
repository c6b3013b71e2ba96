# /// attack
# category = "output"
# kind = "stdio"
# success = "outsize"
# expected = ["runtime_error", "output_limit_exceeded", "memory_limit_exceeded"]
# summary = "Dies of an exception whose message is two hundred megabytes long."
# ///

raise ValueError("x" * (200 << 20))
