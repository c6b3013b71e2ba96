# /// attack
# category = "network"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Opens a TCP port of its own on the loopback address."
# ///

import socket

for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as channel:
            channel.bind((address, 0))
            channel.listen(1)
    except OSError as error:
        print("blocked", error)
    else:
        print("PWNED")
