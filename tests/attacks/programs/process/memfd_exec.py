# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Runs a program that exists only in memory."
# ///

import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
AT_EMPTY_PATH = 0x1000
execveat = {"x86_64": 322, "aarch64": 281}[os.uname().machine]
try:
    descriptor = os.memfd_create("pwn_program", 0)
    os.write(descriptor, b"#!/bin/sh\necho PWNED\n")
    arguments = (ctypes.c_char_p * 2)(b"pwn_program", None)
    environment = (ctypes.c_char_p * 1)(None)
    libc.syscall(
        ctypes.c_long(execveat),
        ctypes.c_long(descriptor),
        b"",
        arguments,
        environment,
        ctypes.c_long(AT_EMPTY_PATH),
    )
    print("blocked", ctypes.get_errno(), flush=True)
    os.execve(descriptor, ["pwn_program"], {})
except OSError as error:
    print("blocked", error)
