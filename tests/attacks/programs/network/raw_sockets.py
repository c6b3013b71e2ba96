# /// attack
# category = "network"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens raw, packet and ping sockets."
# ///

import socket

for family, kind, protocol in (
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP),
    (socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW),
    (socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP),
    (socket.AF_PACKET, socket.SOCK_RAW, 0),
    (socket.AF_PACKET, socket.SOCK_DGRAM, 0),
):
    try:
        socket.socket(family, kind, protocol).close()
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
