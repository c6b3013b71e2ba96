# /// attack
# category = "network"
# kind = "stdio"
# success = "net:tcp"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Connects to a TCP port on this machine."
# ///

import socket

for address in ("127.0.0.1", "localhost", "::1"):
    try:
        with socket.create_connection((address, int("{TCP_PORT}")), timeout=2) as connection:
            connection.sendall(b"stolen")
    except OSError as error:
        print("blocked", error)
