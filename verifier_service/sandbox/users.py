"""Users for slots, which no other sandbox of this machine has at the same time.

The kernel counts threads per user. If two sandboxes shared a user, the program of one could use up
the threads of the other's program.
"""

from __future__ import annotations

import errno
import secrets
import socket

FIRST_USER = 60_000
NUM_SLOTS = 2_500
"""Slots of all sandboxes on a machine together. Their users stay below 65,536, because a container
may have no users above."""


class Users:
    """Two users, one for programs and one for judges, held until `close`.

    The claim is an abstract socket, which only one process of a network namespace can have, and
    which ends with that process. The search starts at a random number: containers with network
    namespaces of their own do not see each other's claims, and so seldom choose the same users.

    Raises:
        OSError: every user is taken, or the platform has no such sockets.
    """

    def __init__(self) -> None:
        self._claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        start = secrets.randbelow(NUM_SLOTS)
        for number in [*range(start, NUM_SLOTS), *range(start)]:
            if self._take(number):
                self.program = FIRST_USER + 2 * number
                self.judge = self.program + 1
                return
        self._claim.close()
        raise OSError(errno.EADDRINUSE, f"the users of all {NUM_SLOTS} slots are taken")

    def _take(self, number: int) -> bool:
        try:
            self._claim.bind(f"\0verifier-sandbox-users-{number}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            return False
        return True

    def close(self) -> None:
        """Release the users. Only when no process of theirs is left."""
        self._claim.close()
