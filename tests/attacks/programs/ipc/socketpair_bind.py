# /// attack
# category = "ipc"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Turns one end of an allowed socket pair into a meeting point with a name."
# ///

import socket

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    try:
        left, right = socket.socketpair(socket.AF_UNIX, kind)
    except OSError as error:
        print("blocked", error)
        continue
    try:
        left.bind("\0pwn_pair")  # a name in a network that nobody else has
        left.listen(1)
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
