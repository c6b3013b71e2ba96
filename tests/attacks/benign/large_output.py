# /// control
# summary = "Prints half a megabyte, which is allowed, and more than a pipe holds."
# repeat = 65536
# expected_stdout = "1234567\n"
# ///

import sys

for _ in range(65_536):
    sys.stdout.write("1234567\n")
