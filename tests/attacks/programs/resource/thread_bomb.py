# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["runtime_error", "memory_limit_exceeded", "wrong_answer", "time_limit_exceeded"]
# summary = "Starts hundreds of threads."
# ///

import threading
import time

finish = threading.Event()
threads = []
for _ in range(500):
    thread = threading.Thread(target=finish.wait, args=(3,), daemon=True)
    thread.start()
    threads.append(thread)
time.sleep(0.2)
if sum(thread.is_alive() for thread in threads) >= 400:
    print("PWNED", flush=True)
finish.set()
