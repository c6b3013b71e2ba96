"""The messages between the runner, which orders executions, and a zygote.

runner --- ZygoteConfig ------------------------------> zygote    once
       <-- ZygoteStarted ------------------------------           once
       --- ORDER, `ChildLimits`, names, descriptors --->          for each execution
       <-- STARTED, unless it ended soon ---------------
       <-- ENDED, fetched files ------------------------
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

STDIN, CHANNEL, RESULT, WORKSPACE, TALKS = 1, 2, 4, 8, 16
"""Flags of the optional descriptors. An order sends them in this order, after the required ones."""
ORDER = struct.Struct("=B")
ENDED = struct.Struct("=iddQ")
"""Wait status, user and system seconds, peak resident kilobytes.

The message goes on with one byte for each fetched file that exists: its index in the order. The
descriptors of these files come with the message."""
STARTED = b"S"
"""Message with the pidfd of a child that did not end within `SHORT_MILLISECONDS`."""
SHORT_MILLISECONDS = 5
"""Time in which many programs end. Nobody is told that they have started, which would wake the
runner twice. Less than any limit on time, and less than the time to the first look at turns."""
MAX_MESSAGE_BYTES = 2**15
MAX_CONFIG_BYTES = 2**17
MAX_DESCRIPTORS = 8


@dataclass(frozen=True, kw_only=True)
class ZygoteConfig:
    """How a zygote is started, as JSON in the first message that it is sent.

    It is not in the arguments of its process, which every program can read."""

    kind: str
    packages: dict[str, str]
    """Directories of the packages that its kind has, by name."""
    executable: list[str]
    """`Tools.executable`; used by the kind `native` only."""
    readable: list[str]
    """`Tools.readable`; used by the kind `native` only."""
    binary_readable: list[str]
    """`Tools.binary_readable`; used by the kind `native` only."""
    devices: list[str]
    """`Tools.devices`; used by the kind `native` only."""
    runtime_calls: str
    """`Tools.runtime_calls`; used by the kind `native` only."""
    binary_runtime_calls: str
    """`Tools.binary_runtime_calls`; used by the kind `native` only."""
    links: dict[str, str]
    """`Tools.links`; used by the kind `native` only."""
    launcher: str = ""
    """`Tools.launcher` in base64; used by the kind `native` only."""
    entries: dict[str, str]
    """Entries besides those of `ENTRIES`, as `module:function`."""
    directory: str
    """An empty directory of the zygote's own."""
    user: int
    """The user that the children become where that is permitted."""
    without: list[str]
    """Layers not to apply."""


@dataclass(frozen=True, kw_only=True)
class ZygoteStarted:
    """First message of a zygote, as JSON: it can fork."""

    layers: list[str]
    problems: list[str]
    """Layers that it could not have, and why."""
    resident_bytes: int
    has_loopback: bool
    """Whether each execution has a network of its own, with loopback; otherwise no socket."""
    cpu_seconds: float
    """CPU time that its start took."""
