# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded"]
# summary = "Matches a pattern that backtracks for longer than anybody waits."
# ///

import re

print(re.match(r"(a|aa)+$", "a" * 80 + "b"))
