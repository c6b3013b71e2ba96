# /// attack
# category = "reward-hack"
# kind = "stdio"
# success = "verdict_passed"
# expected = ["wrong_answer", "invalid_output"]
# test = "float"
# summary = "Prints not-a-number, from which no tolerance finds a difference."
# ///

print("nan")
