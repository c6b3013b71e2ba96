# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Lists the folders of the service and of the system."
# ///

import glob
import os

folders = ["{OUTSIDE_DIR}", os.path.dirname("{SECRET_FILE}"), "/tmp", "/root", "/home", "/var/log"]
for folder in folders:
    try:
        os.listdir(folder)
        print("PWNED")
    except OSError as error:
        print("blocked", error)
if glob.glob("{OUTSIDE_DIR}/*"):
    print("PWNED")
