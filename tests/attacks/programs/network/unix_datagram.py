# /// attack
# category = "network"
# kind = "stdio"
# success = "net:unix"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sends a datagram to a unix socket's path."
# ///

import socket

try:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.sendto(b"stolen", "{UNIX_SOCKET}.dgram")
except OSError as error:
    print("blocked", error)
