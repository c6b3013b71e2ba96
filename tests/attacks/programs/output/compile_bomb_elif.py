# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["compile_error", "memory_limit_exceeded", "time_limit_exceeded", "runtime_error", "wrong_answer"]
# compiles = false
# summary = "Chains thousands of elif branches, each nested in the last."
# ///

n = 0
if n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
elif n:
    pass
