# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "file:{OUTSIDE_DIR}/pwn_tmpfile*"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Makes a nameless file in a folder of the service and links it into view."
# ///

import os

try:
    descriptor = os.open("{OUTSIDE_DIR}", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.link(f"/proc/self/fd/{descriptor}", "{OUTSIDE_DIR}/pwn_tmpfile", src_dir_fd=0)
except OSError as error:
    print("blocked", error)
