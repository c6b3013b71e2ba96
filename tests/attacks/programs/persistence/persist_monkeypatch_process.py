# /// attack
# category = "persistence"
# kind = "stdio"
# success = "benign_tainted"
# expected = ["wrong_answer"]
# summary = "Breaks the builtins and modules that the next program in the same process would use."
# ///

import builtins
import json
import math
import sys

builtins.sorted = lambda *_, **__: []
builtins.sum = lambda *_, **__: -1
builtins.int = str
json.dumps = lambda *_, **__: "tainted"
math.sqrt = lambda _: -1.0
sys.modules["re"] = math
sys.modules["collections"] = math
sys.setrecursionlimit(60)
