# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "output_limit_exceeded", "invalid_output", "runtime_error"]
# test = "float"
# summary = "Prints numbers that are slow or impossible to parse."
# ///

print("9" * 400_000)
print("1e" + "9" * 100_000)
print("0." + "0" * 300_000 + "1")
print("1_0", "\u0661\u0662", "0x1p-1074", "1e400", "-inf", "nan")
