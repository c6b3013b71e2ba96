# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "file:{OUTSIDE_DIR}/pwn_link*"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Gives a secret file a second name."
# ///

import os

attempts = [
    lambda: os.link("{SECRET_FILE}", "{OUTSIDE_DIR}/pwn_link_plain"),
    lambda: os.link("{OUTSIDE_DIR}/watched.txt", "{OUTSIDE_DIR}/pwn_link_watched"),
    lambda: os.link("{SECRET_FILE}", "pwn_link_scratch"),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
