# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded"]
# summary = "Sleeps for ever, a little at a time, so that it is never asleep for long."
# ///

import time

while True:
    time.sleep(0.2)
