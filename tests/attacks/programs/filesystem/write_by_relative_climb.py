# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "file:{OUTSIDE_DIR}/pwn_climb*"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Leaves its folder by climbing, by links in its folder and by folder descriptors."
# ///

import os

target = "{OUTSIDE_DIR}"
attempts = [
    lambda: open("../" * 30 + target.lstrip("/") + "/pwn_climb_dots", "w"),
    lambda: os.symlink(target, "way_out"),
    lambda: open("way_out/pwn_climb_link", "w"),
    lambda: open(f"/proc/self/root{target}/pwn_climb_root", "w"),
    lambda: os.open(
        "pwn_climb_fd", os.O_CREAT | os.O_WRONLY, dir_fd=os.open(target, os.O_PATH)
    ),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
