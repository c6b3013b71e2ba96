"""Process numbers in a namespace, which are counted from the start for each child.

The kernel counts on: the number of a process would tell how many threads the executions before it
started, which is a message that one can leave for the next.
"""

from __future__ import annotations

import os

_LAST_NUMBER = "/proc/sys/kernel/ns_last_pid"
"""The number given last in the namespace of the process that opens it (CONFIG_CHECKPOINT_RESTORE).
Only those with privileges in the namespace may write it."""
_FIRST_PROCESS = b"1"


class ProcessNumbers:
    """The counter of this process's namespace.

    Raises:
        OSError: the kernel has no such counter, or this process may not open it.
    """

    def __init__(self) -> None:
        self._counter = os.open(_LAST_NUMBER, os.O_WRONLY | os.O_CLOEXEC)
        self.start_again()

    def start_again(self) -> None:
        """Have the next process get the lowest number that is free. Raises OSError."""
        os.pwrite(self._counter, _FIRST_PROCESS, 0)
