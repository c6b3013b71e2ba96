"""Programs of Node.js that read standard input by the name of its device.

`fs.readFileSync("/dev/stdin")` is how most of them read it. A sandboxed process sees no such file,
since the device is a link into /proc. Descriptor 0 is the same input under another name.
"""

from __future__ import annotations

import re

_QUOTED = rb"([\"'`])/dev/stdin\1"
# A stream of the device: `fs.createReadStream("/dev/stdin")`, perhaps with options.
_STREAM = re.compile(
    rb"(?:\brequire\(\s*[\"'](?:node:)?fs[\"']\s*\)\s*\.\s*|\bfs\s*\.\s*)?\bcreateReadStream\(\s*"
    + _QUOTED
    + rb"\s*(?:,[^()]*)?\)"
)
# The device's name by itself: the `"/dev/stdin"` of `readFileSync("/dev/stdin")`.
_NAME = re.compile(_QUOTED)


def by_descriptor(source: bytes) -> bytes:
    """The source with descriptor 0 in place of the name; line numbers stay as they are.

    >>> by_descriptor(b"const t = fs.readFileSync('/dev/stdin', 'utf8');")
    b"const t = fs.readFileSync(0, 'utf8');"
    """
    if b"/dev/stdin" not in source or b"read" not in source.lower():
        return source
    return _NAME.sub(b"0", _STREAM.sub(b"process.stdin", source))
