# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "modechanged"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Sets a flag on a file of the service through a descriptor that may only read."
# ///

import fcntl
import os
import struct

FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_NODUMP_FL = 0x80086601, 0x40086602, 0x40
try:
    descriptor = os.open("{OUTSIDE_DIR}/watched.txt", os.O_RDONLY)
    flags = struct.unpack("l", fcntl.ioctl(descriptor, FS_IOC_GETFLAGS, struct.pack("l", 0)))[0]
    fcntl.ioctl(descriptor, FS_IOC_SETFLAGS, struct.pack("l", flags | FS_NODUMP_FL))
except OSError as error:
    print("blocked", error)
