# /// attack
# category = "network"
# kind = "stdio"
# success = "net:tcp"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Connects without connect(): by sending with MSG_FASTOPEN, and without blocking."
# ///

import select
import socket

MSG_FASTOPEN = 0x20000000
address = ("127.0.0.1", int("{TCP_PORT}"))
try:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as channel:
        channel.sendto(b"stolen", MSG_FASTOPEN, address)
except OSError as error:
    print("blocked", error)
try:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM | socket.SOCK_NONBLOCK) as channel:
        print(channel.connect_ex(address))
        select.select([], [channel], [], 2)
        channel.send(b"stolen")
except OSError as error:
    print("blocked", error)
