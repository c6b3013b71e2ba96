# /// attack
# category = "network"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens sockets of rarely used families, each a large piece of kernel code."
# ///

import socket

TCP = ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET6, socket.SOCK_STREAM))

for family in range(2, 46):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_SEQPACKET):
        if (family, kind) in TCP:  # a program may serve itself
            continue
        try:
            socket.socket(family, kind).close()
        except OSError:
            continue
        print("opened", family, kind)
        print("PWNED")
