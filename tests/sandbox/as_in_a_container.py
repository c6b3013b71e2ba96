"""Run a command as a user without privileges whom the kernel refuses namespaces and mounts.

    python as_in_a_container.py 1500 command arguments...

Docker's default seccomp profile refuses the same to an unprivileged user. This filter stands in for
that profile, which refuses more calls.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

# unshare, mount, pivot_root, setns, umount2
REFUSED = {"x86_64": (272, 165, 155, 308, 166), "aarch64": (97, 40, 41, 268, 39)}
LOAD_NUMBER, ALLOW = (0x20, 0, 0, 0), (0x06, 0, 0, 0x7FFF0000)
REFUSE = (0x06, 0, 0, 0x00050000 | errno.EPERM)
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2


class Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def refuse_namespaces() -> None:
    numbers = REFUSED[platform.machine()]
    code = [LOAD_NUMBER]
    for number in numbers:
        code += [(0x15, 0, 1, number), REFUSE]
    code.append(ALLOW)
    image = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    libc = ctypes.CDLL(None)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        PR_SET_SECCOMP, FILTER, ctypes.byref(Program(len(code), image))
    ):
        sys.exit("the filter could not be installed")


if __name__ == "__main__":
    user = int(sys.argv[1])
    if user != os.getuid():
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    refuse_namespaces()
    os.execv(sys.argv[2], sys.argv[2:])
