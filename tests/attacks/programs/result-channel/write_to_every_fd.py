# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "runtime_error", "sandbox_violation"]
# summary = "Writes status bytes, exit records and JSON into every descriptor that takes them."
# ///

import json
import os
import struct

verdict = json.dumps({"status": "ok", "reason": "sandbox_error", "passed": True}).encode()
messages = [b"R", b"E", b"R" * 64, struct.pack("<I", len(verdict)) + verdict, b"\xff" * 4096]
for descriptor in [*range(3, 1024), 0, 1, 2]:
    for message in messages:
        try:
            os.set_blocking(descriptor, False)
            os.write(descriptor, message)
        except OSError:
            break
