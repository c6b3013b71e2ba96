# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded", "sandbox_violation"]
# summary = "Waits for input that never comes, from the terminal and from pipes of its own."
# ///

import os
import select
import sys

sys.stdin.read()
try:
    os.read(os.open("/dev/tty", os.O_RDONLY), 1)
except OSError as error:
    print("blocked", error)
reader, writer = os.pipe()
select.select([reader], [], [])
os.read(reader, 1)
