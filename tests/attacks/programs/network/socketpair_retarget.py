# /// attack
# category = "network"
# kind = "stdio"
# success = "net:unix"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sends to a named socket from one end of an allowed socket pair."
# ///

import socket

for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM, socket.SOCK_SEQPACKET):
    try:
        left, right = socket.socketpair(socket.AF_UNIX, kind)
    except OSError as error:
        print("blocked", error)
        continue
    for name in ("{UNIX_SOCKET}", "{UNIX_SOCKET}.dgram", "\0{UNIX_SOCKET}"):
        for action in (
            lambda: left.sendto(b"stolen", name),
            lambda: right.connect(name),
            lambda: right.send(b"stolen"),
        ):
            try:
                left.setblocking(False)
                right.setblocking(False)
                action()
            except OSError as error:
                print("blocked", error)
