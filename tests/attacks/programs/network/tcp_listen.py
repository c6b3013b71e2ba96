# /// attack
# category = "network"
# kind = "stdio"
# success = "net:tcp"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Takes the port of a server of this machine for itself, and connects to both."
# ///

import socket

for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    for listens in (True, False):
        try:
            with socket.socket(family, socket.SOCK_STREAM) as channel:
                if listens:
                    channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                    channel.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
                    channel.bind((address, int("{TCP_PORT}")))
                    channel.listen(1)
                with socket.create_connection((address, int("{TCP_PORT}")), timeout=2) as other:
                    other.sendall(b"stolen")
        except OSError as error:
            print("blocked", error)
