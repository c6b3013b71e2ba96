# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "file:{OUTSIDE_DIR}/pwn_outside*"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Creates files in a folder of the service."
# ///

import os
from pathlib import Path

attempts = [
    lambda: Path("{OUTSIDE_DIR}/pwn_outside_write").write_text("x"),
    lambda: Path("{OUTSIDE_DIR}/pwn_outside_mkdir").mkdir(),
    lambda: os.open("{OUTSIDE_DIR}/pwn_outside_creat", os.O_CREAT | os.O_RDONLY),
    lambda: os.symlink("/nowhere", "{OUTSIDE_DIR}/pwn_outside_symlink"),
    lambda: os.mkfifo("{OUTSIDE_DIR}/pwn_outside_fifo"),
    lambda: os.mknod("{OUTSIDE_DIR}/pwn_outside_mknod"),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
