"""Pickles of plain data, as open-instruct and LiveCodeBench ship tests: in base64 of zlib.

A pickle is a small program: to read one is to run it. The instructions of plain data (lists,
objects, texts, numbers) are let through, each with bounds, and no name is ever looked up.
"""

from __future__ import annotations

import base64
import binascii
import io
import pickle
import pickletools
import zlib
from typing import Any, NoReturn

MAX_UNPACKED_BYTES = 64 * 2**20
"""Largest pickle. A text of a kilobyte can unpack to a megabyte."""
MAX_INSTRUCTIONS = 50_000
"""Most instructions of a pickle; a test takes about eight."""

MAX_VALUES = 200_000
"""Most values, each counted as often as it stands somewhere: a list may hold another one twice."""

_PLAIN = frozenset(
    {
        *("PROTO", "FRAME", "STOP", "MARK"),
        *("NONE", "NEWTRUE", "NEWFALSE", "BININT", "BININT1", "BININT2", "BINFLOAT"),
        *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
        *("EMPTY_LIST", "LIST", "APPEND", "APPENDS", "EMPTY_TUPLE", "TUPLE"),
        *("TUPLE1", "TUPLE2", "TUPLE3", "EMPTY_DICT", "DICT", "SETITEM", "SETITEMS"),
        *("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT", "GET", "BINGET", "LONG_BINGET"),
    }
)
_PLACES = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})


class UnreadablePickle(ValueError):
    """A text is no pickle of plain data, or too large a one."""


class TooLarge(UnreadablePickle):
    """A pickle has more bytes than it may."""


def unpacked(text: str, *, max_bytes: int = MAX_UNPACKED_BYTES) -> bytes:
    """The pickle that a text holds. Raises UnreadablePickle, of which TooLarge is one."""
    unpacking = zlib.decompressobj()
    try:
        found = unpacking.decompress(base64.b64decode(text, validate=True), max_bytes)
    except (binascii.Error, ValueError, zlib.error) as error:
        raise UnreadablePickle(f"no base64 of zlib: {error}") from error
    if unpacking.unconsumed_tail:
        raise TooLarge(f"more than {max_bytes} bytes when unpacked")
    if not unpacking.eof:
        raise UnreadablePickle("its zlib stream breaks off")
    return found


def plain_value(pickled: bytes) -> Any:
    """The lists, objects, texts and numbers of a pickle. Raises UnreadablePickle."""
    _check(pickled)
    try:
        found = _PlainUnpickler(io.BytesIO(pickled)).load()
    except Exception as error:  # the machine of pickles has no list of its errors
        raise UnreadablePickle(f"no whole pickle: {error}") from error
    _check_number(found)
    return found


class _PlainUnpickler(pickle.Unpickler):
    """An unpickler that finds no class and no function, so that it can call none."""

    def find_class(self, module: str, name: str) -> NoReturn:
        """Refuse a name."""
        raise UnreadablePickle(f"it names {module}.{name}")

    def persistent_load(self, _id: Any) -> NoReturn:
        """Refuse an object that lies elsewhere."""
        raise UnreadablePickle("it names an object outside itself")


def _check(pickled: bytes) -> None:
    """Raise UnreadablePickle unless the pickle has instructions of plain data only.

    Without a look at places, four bytes would have the unpickler make room for 2**32 objects.
    """
    try:
        for number, (instruction, argument, _) in enumerate(pickletools.genops(pickled)):
            if instruction.name not in _PLAIN:
                raise UnreadablePickle(f"it has the instruction {instruction.name}")
            if number > MAX_INSTRUCTIONS:
                raise UnreadablePickle(f"more than {MAX_INSTRUCTIONS} instructions")
            place = argument if instruction.name in _PLACES else 0
            if not isinstance(place, int) or not 0 <= place <= MAX_INSTRUCTIONS:
                raise UnreadablePickle(f"it puts an object into place {place}")
    except UnreadablePickle:
        raise
    except (ValueError, IndexError) as error:
        raise UnreadablePickle(f"no whole pickle: {error}") from error


def _check_number(value: Any) -> None:
    """Raise UnreadablePickle if a value holds more values than may be, or holds itself."""
    left, number = [value], 1
    while left:
        inside = left.pop()
        if not isinstance(inside, dict | list | tuple):
            continue
        parts = inside.values() if isinstance(inside, dict) else inside
        number += len(parts)
        if number > MAX_VALUES:
            raise UnreadablePickle(f"more than {MAX_VALUES} values")
        left += parts
