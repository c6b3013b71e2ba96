"""Programs that read standard input by the name of its device, `/dev/stdin`.

A sandboxed process sees no such file, since the device is a link into /proc. Three stand-ins take
its place in the text of a program; line numbers stay as they are.

| language | in place of the name |
|---|---|
| JavaScript, TypeScript | descriptor 0, where a call takes it |
| bash | a copy of the descriptor: `< /dev/stdin` is `<&0`, `> /dev/stderr` is `>&2` |
| every one, where its name stands in quotes | `STDIN_FILE`, a file |
"""

from __future__ import annotations

import re
from collections.abc import Mapping

STDIN_FILE = ".dev-stdin"
"""Name of a file in the scratch directory that holds the standard input as well."""

_QUOTED = rb"([\"'`])/dev/stdin\2"
# A call that reads the device: the `readFileSync("/dev/stdin"` of `fs.readFileSync("/dev/stdin")`.
_FILE = re.compile(rb"\b(readFile(?:Sync)?\(\s*)" + _QUOTED)
# The same, without the calls of `fs/promises`, which take no descriptor.
_FILE_SYNC = re.compile(rb"\b(readFileSync\(\s*)" + _QUOTED)
# The device as a value, which such a call may have: `path = "/dev/stdin"`, `linux ? "/dev/stdin"`.
_VALUE = re.compile(rb"((?:(?<![=!<>])=|\?)\s*)" + _QUOTED)
# A stream of the device, and what stands before its options: `createReadStream("/dev/stdin", {`.
_STREAM = re.compile(rb"\b(createReadStream\(\s*)" + _QUOTED + rb"\s*(?:(\))|,\s*\{)")
_WITH_PATHS = (b"createReadStream", b"openSync", b"promises")
"""Words of sources whose paths may go where descriptor 0 is none."""

# The name in quotes, after what may lead to it: `"/dev/stdin"`, and Perl's `"< /dev/stdin"`.
_NAME = re.compile(rb"([\"'`](?:\s*<\s*)?)/dev/stdin(?=[\"'`])")
_DESCRIPTORS = {b"stdin": b"0", b"stdout": b"1", b"stderr": b"2"}
# A redirection of a shell to a device: `< /dev/stdin`, `>>/dev/stderr`, `2> "/dev/stdout"`.
_REDIRECTION = re.compile(
    rb"(?<![<>&])(<|>{1,2})[ \t]*(\"?)/dev/(stdin|stdout|stderr)\2(?=[\s;)&|}]|$)"
)
# A redirection to an argument, or else the device: `< "${1:-/dev/stdin}"`.
_DEFAULT = re.compile(rb"(?<![<>&])<[ \t]*(\"?)\$\{1:?-/dev/stdin\}\1")


def by_descriptor(source: bytes) -> bytes:
    """The source of a program of Node.js with descriptor 0 in place of the name.

    >>> by_descriptor(b"const t = fs.readFileSync('/dev/stdin', 'utf8');")
    b"const t = fs.readFileSync(0, 'utf8');"
    >>> by_descriptor(b"fs.createReadStream('/dev/stdin')")
    b"fs.createReadStream('',{fd:0})"
    """
    if b"/dev/stdin" not in source:
        return source
    call = _FILE_SYNC if b"promises" in source else _FILE
    source = _STREAM.sub(_of_descriptor, call.sub(rb"\g<1>0", source))
    if b"readFileSync(" in source and not any(word in source for word in _WITH_PATHS):
        source = _VALUE.sub(rb"\g<1>0", source)
    return source


def _of_descriptor(call: re.Match[bytes]) -> bytes:
    return call[1] + (b"'',{fd:0})" if call[3] else b"'',{fd:0,")


def by_duplicate(source: bytes) -> bytes:
    r"""The source of a shell with copies of its descriptors in place of the devices.

    >>> by_duplicate(b"while read -r a; do echo $a > /dev/stderr; done < /dev/stdin")
    b'while read -r a; do echo $a >&2; done <&0'
    >>> by_duplicate(b'mapfile -t rows < "${1:-/dev/stdin}"')
    b'mapfile -t rows <&0'
    """
    if b"/dev/std" not in source:
        return source
    return _DEFAULT.sub(rb"<&0", _REDIRECTION.sub(_duplicate, source))


def _duplicate(found: re.Match[bytes]) -> bytes:
    return found[1][:1] + b"&" + _DESCRIPTORS[found[3]]


def by_file(source: bytes) -> bytes:
    """The source with `STDIN_FILE` in place of the name, where it stands in quotes.

    >>> by_file(b'data <- readLines("/dev/stdin")')
    b'data <- readLines(".dev-stdin")'
    """
    if b"/dev/stdin" not in source:
        return source
    return _NAME.sub(rb"\g<1>" + STDIN_FILE.encode(), source)


def files_beside(source: bytes) -> dict[str, bytes]:
    """An empty `STDIN_FILE`, if a source that was rewritten names it."""
    return {STDIN_FILE: b""} if STDIN_FILE.encode() in source else {}


def with_stdin(files: Mapping[str, bytes], stdin: bytes) -> dict[str, bytes]:
    """The files of a run, of which `STDIN_FILE` has its standard input, if one has that name."""
    return {name: stdin if name == STDIN_FILE else content for name, content in files.items()}
