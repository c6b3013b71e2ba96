# /// control
# summary = "Reads its input by line, by iterator, whole and by descriptor."
# stdin = "a\nb\nc\nd\n"
# expected_stdout = "a b c d\n"
# ///

import os
import sys

first = input()
second = next(sys.stdin).strip()
third = sys.stdin.readline().strip()
rest = sys.stdin.read().strip()
assert os.read(0, 1) == b""
print(first, second, third, rest)
