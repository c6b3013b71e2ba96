# /// attack
# category = "resource"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "runtime_error"]
# summary = "Keeps memory in the kernel: full pipes and socket pairs."
# ///

import fcntl
import os
import socket

held = 0
keep = []
try:
    while held < 64 << 20:
        reader, writer = os.pipe()
        keep.append((reader, writer))
        os.set_blocking(writer, False)
        held += os.write(writer, b"x" * fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 1 << 20))
except OSError as error:
    print("blocked", error)
try:
    while held < 64 << 20:
        pair = socket.socketpair()
        keep.append(pair)
        pair[0].setblocking(False)
        pair[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        held += pair[0].send(b"x" * (1 << 18))
except OSError as error:
    print("blocked", error)
if held >= 64 << 20:
    print("PWNED")
