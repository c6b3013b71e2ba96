# /// control
# summary = "Parses JSON and takes text apart with patterns."
# expected_stdout = "{\"a\": [1, 2.5, null], \"b\": \"ü\"} ['12', '345'] x-y-z\n"
# ///

import json
import re

data = json.loads('{"b": "\\u00fc", "a": [1, 2.5, null]}')
text = json.dumps(data, sort_keys=True, ensure_ascii=False)
print(text, re.findall(r"\d+", "a12b345"), re.sub(r"\s+", "-", "x y  z"))
