# /// attack
# category = "output"
# kind = "stdio"
# success = "infra"
# expected = ["wrong_answer", "invalid_output"]
# summary = "Prints bytes that are not text: NUL, broken UTF-8, lone surrogates, control sequences."
# ///

import os

os.write(1, b"\0\0\xff\xfe\xc3\x28\xed\xa0\x80\xf4\x90\x80\x80\x1b[2J\x1b]0;title\x07\r\x08\x85\n")
os.write(2, b"\xff" * 1000 + b"\0\xe2\x80\xae\n")
