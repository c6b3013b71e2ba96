# /// control
# summary = "Imports modules that open files, sockets or databases only when told to."
# expected_stdout = "[(3,)] 64 4 900150983cd24fb0d6963f7d28e17f72 zlib True\n"
# ///

import ctypes
import hashlib
import random
import select
import socket
import sqlite3
import subprocess
import tempfile
import uuid
import zlib

database = sqlite3.connect(":memory:")
rows = database.execute("SELECT 1 + 2").fetchall()
random.seed(1)
names = (select, socket, subprocess, tempfile)
print(rows, ctypes.sizeof(ctypes.c_char * 64), len(names), hashlib.md5(b"abc").hexdigest(), end=" ")
print(zlib.decompress(zlib.compress(b"zlib")).decode(), uuid.uuid4() != uuid.uuid4())
