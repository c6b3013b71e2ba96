# /// attack
# category = "output"
# kind = "function"
# success = "outsize"
# expected = ["invalid_output", "runtime_error", "wrong_answer", "time_limit_exceeded", "output_limit_exceeded", "sandbox_violation"]
# summary = "Answers one call with a stream of answers without end."
# ///

import os


def solve(*_):
    frame = b'{"ok": true, "value": null}\n' * 2000
    for descriptor in range(3, 64):
        try:
            for _ in range(1 << 13):
                os.write(descriptor, len(frame).to_bytes(4, "little") + frame)
        except OSError:
            continue
