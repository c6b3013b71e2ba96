# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:FILE"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens a file that only the service may read."
# ///

from pathlib import Path

try:
    print(Path("{SECRET_FILE}").read_text())
except OSError as error:
    print("blocked", error)
