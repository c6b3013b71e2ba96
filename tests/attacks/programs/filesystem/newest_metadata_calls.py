# /// attack
# category = "filesystem"
# kind = "stdio"
# success = "modechanged"
# expected = ["wrong_answer", "sandbox_violation"]
# summary = "Changes a file's metadata with calls too new for a list of forbidden ones."
# ///

import ctypes

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
path = b"{OUTSIDE_DIR}/watched.txt"
AT_FDCWD = -100
value = ctypes.create_string_buffer(b"x")
attribute = (ctypes.c_uint64 * 2)(ctypes.addressof(value), 1)
flags = (ctypes.c_uint64 * 3)(0x80)
calls = {
    "fchmodat2": (452, AT_FDCWD, path, 0o777, 0),
    "setxattrat": (463, AT_FDCWD, path, 0, b"user.pwn", ctypes.addressof(attribute), 16),
    "file_setattr": (469, AT_FDCWD, path, ctypes.addressof(flags), 24, 0),
}
for name, call in calls.items():
    arguments = [item if isinstance(item, bytes) else ctypes.c_long(item) for item in call]
    if libc.syscall(*arguments) < 0:
        print("blocked", name, ctypes.get_errno())
