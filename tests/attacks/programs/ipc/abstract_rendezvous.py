# /// attack
# category = "ipc"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Binds an abstract socket, a meeting point that needs no file."
# ///

import socket

for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    try:
        channel = socket.socket(socket.AF_UNIX, kind)
        channel.bind(f"\0pwn_rendezvous_{kind}")
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
