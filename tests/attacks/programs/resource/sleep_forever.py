# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded"]
# summary = "Sleeps for ever, which no limit on processor time ends."
# ///

import time

while True:
    time.sleep(3600)
