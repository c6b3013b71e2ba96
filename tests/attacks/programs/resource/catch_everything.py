# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded"]
# summary = "Catches every exception that a watchdog could throw into it and starts again."
# ///

import sys
import threading


def spin():
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


sys.setswitchinterval(1000)
threading.Thread(target=spin, daemon=True).start()
spin()
