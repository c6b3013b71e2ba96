# /// attack
# category = "network"
# kind = "stdio"
# success = "net:unix"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Connects to an abstract unix socket, which no file permission guards."
# ///

import socket

try:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
        channel.connect("\0{UNIX_SOCKET}")
        channel.sendall(b"stolen")
except OSError as error:
    print("blocked", error)
