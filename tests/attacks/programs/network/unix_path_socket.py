# /// attack
# category = "network"
# kind = "stdio"
# success = "net:unix"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Connects to a unix socket by its path, as to a Docker daemon."
# ///

import socket

for path in ("{UNIX_SOCKET}", "/proc/self/root{UNIX_SOCKET}", "/var/run/docker.sock"):
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as channel:
            channel.connect(path)
            channel.sendall(b"stolen")
    except OSError as error:
        print("blocked", error)
