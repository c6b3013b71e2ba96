# /// attack
# category = "output"
# kind = "function"
# success = "infra"
# expected = ["invalid_output", "runtime_error", "wrong_answer", "sandbox_violation"]
# summary = "Writes wrong lengths, broken JSON and endless frames to every descriptor during the call."
# ///

import os
import struct

FRAMES = (
    struct.pack("<I", 0xFFFFFFFF) + b"x",
    struct.pack(">I", 0xFFFFFFFF) + b"x",
    struct.pack("<I", 5) + b"{{{{{",
    struct.pack("<I", 0),
    struct.pack("<I", 8) + b"\xff" * 8,
    b"\n\n\n" + b"[" * 100_000 + b"\n",
)


def solve(*_):
    for descriptor in range(3, 256):
        for frame in FRAMES:
            try:
                os.set_blocking(descriptor, False)
                os.write(descriptor, frame)
            except OSError:
                break
    return None
