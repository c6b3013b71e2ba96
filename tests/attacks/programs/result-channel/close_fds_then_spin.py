# /// attack
# category = "result-channel"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded"]
# summary = "Closes every descriptor, so that an executor waiting for end of file believes it has finished."
# ///

import os

os.closerange(0, 4096)
while True:
    pass
