# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Lists folders of the service and finds its files there."
# ///

import glob
import os

for path in ("{OUTSIDE_DIR}/watched.txt", "{SECRET_FILE}"):
    folder, name = os.path.split(path)
    try:
        if name in os.listdir(folder) or name in [entry.name for entry in os.scandir(folder)]:
            print("PWNED")
    except OSError as error:
        print("blocked", error)
    if glob.glob(folder + "/*" + name[-6:]):
        print("PWNED")
