# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:EXPECT"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Searches every live Python object, module and frame for the expected answers."
# ///

import gc
import sys

seen = set()
stack = [sys.modules, sys._current_frames(), gc.get_objects()]
count = 0
while stack and count < 500_000:
    item = stack.pop()
    if id(item) in seen:
        continue
    seen.add(id(item))
    count += 1
    if isinstance(item, (str, bytes)):
        text = item if isinstance(item, str) else item.decode("latin-1")
        if "CANARY-" in text and len(text) < 10_000:
            print(text)
    else:
        stack.extend(gc.get_referents(item))
