# /// attack
# category = "kernel-surface"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sends and receives out-of-band data on a pair of sockets (CVE-2025-38236)."
# ///

import socket

one, other = socket.socketpair()
one.setblocking(False)
other.setblocking(False)
attempts = [
    lambda: one.send(b"x", socket.MSG_OOB),
    lambda: other.recv(1, socket.MSG_OOB),
]
for attempt in attempts:
    try:
        attempt()
    except PermissionError as error:
        print("blocked", error)
    except OSError as error:
        print("PWNED", error, sep="\n")
    else:
        print("PWNED")
