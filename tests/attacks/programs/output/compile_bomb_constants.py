# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "memory_limit_exceeded", "time_limit_exceeded", "wrong_answer", "output_limit_exceeded"]
# summary = "Lets the compiler fold constants, and the program multiply them, into gigabytes."
# ///

TEXT = "x" * 4096
TEXT = "y" * 1000 * 1000 * 1000 * 2
NUMBER = 2**4000 * 2**4000 << 10**10
print(len(TEXT), NUMBER)
