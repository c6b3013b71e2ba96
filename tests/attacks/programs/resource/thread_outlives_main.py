# /// attack
# category = "resource"
# kind = "stdio"
# success = "hang"
# expected = ["time_limit_exceeded", "wrong_answer"]
# summary = "Ends its main thread while another one waits for ever."
# ///

import threading

threading.Thread(target=threading.Event().wait).start()
print("done", flush=True)
