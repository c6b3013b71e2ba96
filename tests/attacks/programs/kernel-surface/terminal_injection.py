# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Types into the terminal of whoever started the service."
# ///

import fcntl
import os
import termios

descriptors = [0, 1, 2]
try:
    descriptors.append(os.open("/dev/tty", os.O_RDWR))
except OSError as error:
    print("blocked", error)
for descriptor in descriptors:
    try:
        fcntl.ioctl(descriptor, termios.TIOCSTI, b" ")
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
