# /// attack
# category = "reward-hack"
# kind = "stdio"
# success = "verdict_passed"
# expected = ["wrong_answer"]
# test = "tokens"
# summary = "Prints only white space, for a checker that compares as many tokens as there are."
# ///

print(" \n\t\n" * 10)
