# /// control
# summary = "Runs one thread and passes results through a queue."
# expected_stdout = "[0, 1, 4, 9, 16]\n"
# ///

import queue
import threading

results = queue.Queue()


def work():
    for number in range(5):
        results.put(number * number)


thread = threading.Thread(target=work)
thread.start()
thread.join()
print([results.get() for _ in range(5)])
