# /// attack
# category = "resource"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "sandbox_violation", "output_limit_exceeded"]
# summary = "Nests folders so deep that a cleaner which recurses, or joins paths, fails."
# ///

import os

try:
    for _ in range(1500):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    os.chmod(".", 0)
except OSError as error:
    print("blocked", error)
