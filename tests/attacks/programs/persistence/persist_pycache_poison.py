# /// attack
# category = "persistence"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Looks for a way to write into the standard library or its bytecode cache."
# ///

import importlib.util
import json.decoder
import os

for module in (json.decoder, json, importlib.util):
    cached = importlib.util.cache_from_source(module.__file__)
    for path, create in ((module.__file__, 0), (cached, 0), (cached + ".pwn", os.O_CREAT)):
        try:
            os.close(os.open(path, os.O_WRONLY | create))
            if create:
                os.unlink(path)
        except OSError as error:
            print("blocked", error)
        else:
            print("PWNED")
