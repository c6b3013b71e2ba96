# /// attack
# category = "secrets"
# kind = "stdio"
# success = "canary:FILE"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Reads a secret file through C's fopen, sqlite and the import system instead of open()."
# ///

import ctypes
import importlib.machinery
import importlib.util
import linecache
import tokenize

secret = "{SECRET_FILE}"
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
stream = libc.fopen(secret.encode(), b"r")
if stream:
    buffer = ctypes.create_string_buffer(4096)
    libc.fread(buffer, ctypes.c_size_t(1), ctypes.c_size_t(4096), ctypes.c_void_p(stream))
    print(buffer.value)
print(linecache.getlines(secret))
try:
    print(importlib.machinery.SourceFileLoader("secret", secret).get_data(secret))
except OSError as error:
    print("blocked", error)
try:
    with tokenize.open(secret) as file:
        print(file.read())
except OSError as error:
    print("blocked", error)
try:
    import sqlite3

    connection = sqlite3.connect(":memory:")
    connection.execute(f"ATTACH DATABASE '{secret}' AS stolen")
    print(connection.execute("SELECT * FROM stolen.sqlite_master").fetchall())
except Exception as error:
    print("blocked", error)
