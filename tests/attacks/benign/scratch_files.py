# /// control
# summary = "Writes, lists, reads and removes temporary files in its current directory."
# scratch = true
# expected_stdout = "hello ['notes.txt'] []\n"
# ///

import os
import pathlib
import tempfile

with tempfile.TemporaryDirectory(dir=".") as folder:
    path = pathlib.Path(folder) / "notes.txt"
    path.write_text("hello")
    print(path.read_text(), os.listdir(folder), end=" ")
    path.unlink()
    print(os.listdir(folder))
