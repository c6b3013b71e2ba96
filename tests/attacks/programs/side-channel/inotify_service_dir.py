# /// attack
# category = "side-channel"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Watches a folder of the service for changes."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
descriptor = libc.inotify_init1(os.O_NONBLOCK)
if descriptor < 0:
    print("blocked", ctypes.get_errno())
else:
    for folder in (b"{OUTSIDE_DIR}", b"/tmp", b"/dev/shm", b"/proc"):
        if libc.inotify_add_watch(descriptor, folder, 0xFFF) >= 0:
            print("PWNED")
print("done")
