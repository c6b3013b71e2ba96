# /// attack
# category = "process"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Makes a child with each function of the standard library that can."
# ///

import multiprocessing
import os
import posix
import pty
import subprocess
import sys


def spawned():
    print("PWNED", flush=True)


def fork(function):
    pid = function()
    if pid == 0 or (isinstance(pid, tuple) and pid[0] == 0):
        os._exit(0)
    print("PWNED", flush=True)


def multi():
    process = multiprocessing.get_context("fork").Process(target=spawned)
    process.start()
    process.join(2)


attempts = [
    lambda: fork(os.fork),
    lambda: fork(posix.fork),
    lambda: fork(os.forkpty),
    lambda: fork(pty.fork),
    multi,
    lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", "print('PWNED')"], {}),
    lambda: subprocess.run([sys.executable, "-c", "print('PWNED')"], timeout=5),
]
for attempt in attempts:
    try:
        attempt()
    except (OSError, subprocess.SubprocessError) as error:
        print("blocked", error, flush=True)
