# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "runtime_error"]
# summary = "Reorders its own text on the screen with invisible characters."
# ///

import os  # ‮ tixe _so ⁦
greetinǵ = "3 1 2"
ﬁle = os.sep  # a ligature that means "file"
print(greetinǵ, file)
