# /// attack
# category = "ipc"
# kind = "stdio"
# success = "file:/dev/shm/*pwn*"
# expected = ["wrong_answer", "sandbox_violation", "runtime_error"]
# summary = "Leaves a shared memory block of Python's own library behind."
# ///

from multiprocessing import resource_tracker, shared_memory

resource_tracker.register = lambda *_: None
try:
    block = shared_memory.SharedMemory(name="pwn_block", create=True, size=4096)
    block.buf[:9] = b"PERSISTED"
except OSError as error:
    print("blocked", error)
