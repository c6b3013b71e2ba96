"""Programs of Node.js that read standard input by the name of its device.

`fs.readFileSync("/dev/stdin")` is how most of them read it. A sandboxed process sees no such file,
since the device is a link into /proc. Descriptor 0 is the same input under another name.
"""

from __future__ import annotations

import re

_QUOTED = rb"([\"'`])/dev/stdin\2"
# A call that reads the device: the `readFileSync("/dev/stdin"` of `fs.readFileSync("/dev/stdin")`.
_FILE = re.compile(rb"\b(readFile(?:Sync)?\(\s*)" + _QUOTED)
# The device as a value, which such a call may have: `path = "/dev/stdin"`, `linux ? "/dev/stdin"`.
_VALUE = re.compile(rb"((?:(?<![=!<>])=|\?)\s*)" + _QUOTED)
# A stream of the device, and what stands before its options: `createReadStream("/dev/stdin", {`.
_STREAM = re.compile(rb"\b(createReadStream\(\s*)" + _QUOTED + rb"\s*(?:(\))|,\s*\{)")
_WITH_PATHS = (b"createReadStream", b"openSync", b"promises")
"""Words of sources whose paths may go where descriptor 0 is none."""


def by_descriptor(source: bytes) -> bytes:
    """The source with descriptor 0 in place of the name; line numbers stay as they are.

    >>> by_descriptor(b"const t = fs.readFileSync('/dev/stdin', 'utf8');")
    b"const t = fs.readFileSync(0, 'utf8');"
    >>> by_descriptor(b"fs.createReadStream('/dev/stdin')")
    b"fs.createReadStream('',{fd:0})"
    """
    if b"/dev/stdin" not in source:
        return source
    source = _STREAM.sub(_of_descriptor, _FILE.sub(rb"\g<1>0", source))
    if b"readFileSync(" in source and not any(word in source for word in _WITH_PATHS):
        source = _VALUE.sub(rb"\g<1>0", source)
    return source


def _of_descriptor(call: re.Match[bytes]) -> bytes:
    return call[1] + (b"'',{fd:0})" if call[3] else b"'',{fd:0,")
