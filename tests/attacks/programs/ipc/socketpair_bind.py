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
    for action in (lambda: left.bind("\0pwn_pair"), lambda: left.listen(1)):
        try:
            action()
        except OSError as error:
            print("blocked", error)
        else:
            print("PWNED")
