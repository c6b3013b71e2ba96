# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded"]
# summary = "Locks itself out."
# ///

import threading

lock = threading.Lock()
lock.acquire()
lock.acquire()
