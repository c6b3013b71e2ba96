# /// attack
# category = "cross-execution"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Writes into its own standard input, which later cases of the same problem may share."
# ///

import fcntl
import os
import stat

before = os.fstat(0).st_size
shareable = stat.S_ISREG(os.fstat(0).st_mode)


def append_to_the_device():
    device = os.open("/dev/stdin", os.O_WRONLY | os.O_APPEND)
    os.write(device, b"9\n")
    if os.fstat(device).st_ino != os.fstat(0).st_ino:
        raise OSError("a copy of its own")


attempts = [
    lambda: os.write(0, b"9 9 9\n"),
    lambda: os.pwrite(0, b"9", 0),
    lambda: os.ftruncate(0, before + 1),
    lambda: os.write(os.open("/proc/self/fd/0", os.O_WRONLY | os.O_APPEND), b"9\n"),
    append_to_the_device,
    lambda: fcntl.fcntl(0, 1033, 1),
]
for attempt in attempts:
    try:
        attempt()
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED" if shareable else "a pipe of its own")
