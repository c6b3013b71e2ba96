# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["runtime_error", "output_limit_exceeded", "time_limit_exceeded", "memory_limit_exceeded"]
# summary = "Dies of an exception with a chain of causes thousands long."
# ///

previous = None
for number in range(20_000):
    try:
        raise ValueError(number) from previous
    except ValueError as error:
        previous = error
raise previous
