# /// attack
# category = "process"
# kind = "stdio"
# success = "service_dead"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Lets the kernel signal the service: it names it the owner of a pipe that then becomes ready."
# ///

import fcntl
import os
import signal
import struct

F_SETSIG, F_SETOWN_EX, F_OWNER_PID = 10, 15, 1
reader, writer = os.pipe()
pid = int("{PARENT_PID}")
try:
    fcntl.fcntl(reader, F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(reader, fcntl.F_SETOWN, pid)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    os.write(writer, b"x")
    fcntl.fcntl(reader, F_SETOWN_EX, struct.pack("ii", F_OWNER_PID, pid))
    os.write(writer, b"x")
except OSError as error:
    print("blocked", error)
