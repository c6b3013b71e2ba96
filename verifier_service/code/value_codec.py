"""Values as they cross between a program and its judge: plain data, by exact type.

A message is a frame of JSON. A value of a type that JSON lacks is a list of a tag and its parts.
Nothing is unpickled and no name in a frame is looked up. Values arrive as built-in types, whatever
the sender's objects claimed to be equal to.
"""

from __future__ import annotations

import base64
import builtins
import datetime
import importlib
import json
import keyword
import pathlib
import socket
import uuid
from collections import Counter, OrderedDict, deque, namedtuple
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from verifier_service import frames
from verifier_service.code.regex_matches import MATCH_TYPES, FoundMatch

MAX_FRAME_BYTES = 16 * 2**20
MAX_DEPTH = 200
MAX_JSON_INTEGER = 2**63

_to_json = json.JSONEncoder(separators=(",", ":")).encode


class Malformed(Exception):
    """A message is not of the form that the other side should have sent."""


class NotPlain(Exception):
    """A value is no plain data, and no handle can be sent for it."""


class TooMuch(NotPlain):
    """A value is nested too deeply or too large to be sent."""


SendHandle = Callable[[Any], Any]
"""Gives the data to send for a value that is no plain data, or raises NotPlain."""
ReceiveHandle = Callable[[list[Any]], Any]
"""Gives the value for a list whose tag is not one of plain data, or raises Malformed."""


def encode(value: Any, handle: SendHandle, depth: int = 0) -> Any:
    """A value as data of JSON.

    An instance of a subclass is sent as the built-in value it holds, read by the built-in type.

    Raises:
        NotPlain: the value, or a part of it, is no plain data.
        TooMuch: the value is nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise TooMuch("nested too deeply")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if abs(value) < MAX_JSON_INTEGER else ["int", hex(value)]
    if kind is float:
        return ["float", value.hex()]
    for base, tag in _SEQUENCES:
        if kind is base or (isinstance(value, base) and kind.__module__ != "builtins"):
            items = list(base.__iter__(value))
            if base is tuple and (names := _field_names(kind, len(items))):
                parts = [encode(item, handle, depth + 1) for item in items]
                return ["namedtuple", kind.__name__, list(names), *parts]
            return [tag, *(encode(item, handle, depth + 1) for item in items)]
    if kind in _VIEWS:
        return [_VIEWS[kind], *(encode(item, handle, depth + 1) for item in value)]
    if kind is deque:
        return ["deque", value.maxlen, *(encode(item, handle, depth + 1) for item in value)]
    if isinstance(value, dict):
        pairs = list(dict.items(value))
        return [
            _MAPPING_TAGS.get(kind, "dict"),
            *([encode(k, handle, depth + 1), encode(v, handle, depth + 1)] for k, v in pairs),
        ]
    for base, tag, text in _TEXTS:
        if kind is base:
            return [tag, text(value)]
    if kind in MATCH_TYPES:
        return ["Match", *(encode(part, handle, depth + 1) for part in FoundMatch.parts_of(value))]
    if isinstance(value, type):
        return ["type", _TYPE_NAMES[value]] if value in _TYPE_NAMES else handle(value)
    return _encode_subclass(value, handle, depth)


def _encode_subclass(value: Any, handle: SendHandle, depth: int) -> Any:
    for base, copy in _COPIES:
        if isinstance(value, base):
            return encode(copy(value), handle, depth)
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        if type(value).__name__ == "ndarray" and value.dtype.kind in _ARRAY_KINDS:
            return _encode_array(value)
        if not getattr(value, "ndim", 1):
            return encode(value.item(), handle, depth)
    return handle(value)


def _encode_array(array: Any) -> Any:
    """An array of numbers or texts of numpy: its type, its shape and its bytes.

    A table without rows is a list. As an array it would be close to every row of its width, since
    numpy compares it with none of them.
    """
    if not array.size and array.ndim > 1:
        return encode(array.tolist(), _refuse)
    content = base64.b64encode(array.tobytes()).decode()
    return ["ndarray", array.dtype.str, list(map(int, array.shape)), content]


def _refuse(value: Any) -> Any:
    raise NotPlain(type(value).__name__)


def _field_names(kind: Any, length: int) -> tuple[str, ...]:
    """Names of the fields of a class of named tuples; none if it is no such class."""
    names = kind.__dict__.get("_fields")
    if not isinstance(names, tuple) or len(names) != length:
        return ()
    return names if all(_is_name(name) and name[0] != "_" for name in names) else ()


def decode(data: Any, handle: ReceiveHandle, depth: int = 0) -> Any:
    """The value that `encode` made the data of.

    Args:
        data: the data of JSON.
        handle: gives the value for a list whose tag is not one of plain data.
        depth: depth at which the data are taken to begin, of `MAX_DEPTH`.

    Raises:
        Malformed: the data are not of a form that `encode` makes.
    """
    if depth > MAX_DEPTH:
        raise Malformed("nested too deeply")
    if data is None or isinstance(data, bool | str | int):
        return data
    if not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise Malformed("neither plain nor tagged")
    tag, *parts = data
    try:
        if tag in _SEQUENCE_TYPES:
            items = [decode(part, handle, depth + 1) for part in parts]
            return _whole(_SEQUENCE_TYPES[tag](items), items)
        if tag in _VIEW_READERS:
            return _VIEW_READERS[tag]([decode(part, handle, depth + 1) for part in parts])
        if tag == "deque":
            maxlen, *items = parts
            items = [decode(item, handle, depth + 1) for item in items]
            return _whole(deque(items, maxlen), items)
        if tag in _MAPPING_TYPES:
            pairs = [
                (decode(key, handle, depth + 1), decode(value, handle, depth + 1))
                for key, value in map(_pair, parts)
            ]
            return _whole(_MAPPING_TYPES[tag](dict(pairs)), pairs)
        if tag == "namedtuple":
            return _named_tuple(
                parts[0], parts[1], [decode(p, handle, depth + 1) for p in parts[2:]]
            )
        if tag == "Match":
            return FoundMatch.from_parts(*(decode(part, handle, depth + 1) for part in parts))
        if tag == "ndarray":
            return _array(*parts)
        if tag in _READERS:
            (text,) = parts
            if not isinstance(text, str):
                raise Malformed(f"{tag} is not text")
            return _READERS[tag](text)
    except (TypeError, ValueError, ArithmeticError, LookupError, ImportError) as error:
        raise Malformed(f"not a {tag}") from error
    return handle(data)


def _named_tuple(name: Any, names: Any, items: list[Any]) -> tuple[Any, ...]:
    """A named tuple. It has no names if one of them would replace what a tuple answers.

    A field `index` that can be called would let the program answer where the test asks a tuple.
    """
    if not (_is_name(name) and isinstance(names, list) and all(map(_is_name, names))):
        raise Malformed("no names of a named tuple")
    if len(set(names)) != len(items) or any(name.startswith("_") for name in names):
        raise Malformed("not a name for each item")
    fields = zip(names, items, strict=True)
    if any(hasattr(tuple, name) and callable(item) for name, item in fields):
        return tuple(items)
    found: tuple[Any, ...] = _tuple_class(name, tuple(names))(*items)
    return found


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)


@lru_cache(maxsize=100)
def _tuple_class(name: str, names: tuple[str, ...]) -> Any:
    return namedtuple(name, names)


def _array(kind: str, shape: list[int], content: str) -> Any:
    """An array of numpy. Raises ImportError: this process has no numpy."""
    numpy = importlib.import_module("numpy")
    dtype = numpy.dtype(kind)
    if dtype.kind not in _ARRAY_KINDS or not all(type(size) is int for size in shape):
        raise Malformed("not an array of numbers or texts")
    if len(shape) > 1 and 0 in shape:
        raise Malformed("a table without rows or columns")
    flat = numpy.frombuffer(base64.b64decode(content, validate=True), dtype)
    return flat.reshape(shape).copy()


def _whole(container: Any, items: list[Any]) -> Any:
    """The container of the items. Raises Malformed: two are equal, or a deque has no room."""
    if len(container) != len(items):
        raise Malformed("items vanish in their container")
    return container


def _pair(data: Any) -> list[Any]:
    if not isinstance(data, list) or len(data) != 2:
        raise Malformed("not a pair")
    return data


def send_message(connection: socket.socket, message: Any) -> None:
    """Send a message of JSON.

    Raises:
        TooMuch: the message is too large.
    """
    connection.sendall(frame_of(message))


def frame_of(message: Any) -> bytes:
    """The bytes to send for a message of JSON. Raises TooMuch: the message is too large."""
    frame = _to_json(message).encode("utf-8", "surrogatepass")
    if len(frame) > MAX_FRAME_BYTES:
        raise TooMuch("too large")
    return frames.pack(frame)


def receive_message(connection: socket.socket) -> tuple[Any, int]:
    """The next message, and its size in bytes.

    Raises:
        EOFError: the other side has closed the connection.
        Malformed: the frame is too large, or is not JSON.
    """
    try:
        frame = frames.receive_frame(connection, max_bytes=MAX_FRAME_BYTES)
    except frames.FrameTooLarge as error:
        raise Malformed("too large a frame") from error
    try:
        return json.loads(frame.decode("utf-8", "surrogatepass")), len(frame)
    except (ValueError, RecursionError) as error:
        raise Malformed("not JSON") from error


_ARRAY_KINDS = "biufcSUMm"
"""Kinds of numpy's types whose values are their bytes: numbers, texts, dates."""

_SEQUENCES: tuple[tuple[Any, str], ...] = (
    (list, "list"), (tuple, "tuple"), (set, "set"), (frozenset, "frozenset"),
)  # fmt: skip
_SEQUENCE_TYPES: dict[str, Any] = {tag: kind for kind, tag in _SEQUENCES}

_VIEWS: dict[type, str] = {
    type({}.keys()): "dict_keys", type({}.values()): "dict_values", type({}.items()): "dict_items",
}  # fmt: skip
_VIEW_READERS: dict[str, Callable[[list[Any]], Any]] = {
    "dict_keys": lambda items: dict.fromkeys(items).keys(),
    "dict_values": lambda items: dict(enumerate(items)).values(),
    "dict_items": lambda items: dict(items).items(),
}

_MAPPING_TYPES: dict[str, Any] = {"dict": dict, "Counter": Counter, "OrderedDict": OrderedDict}
_MAPPING_TAGS = {kind: tag for tag, kind in _MAPPING_TYPES.items()}

_TEXTS: tuple[tuple[type, str, Callable[[Any], str]], ...] = (
    (bytes, "bytes", lambda value: value.hex()),
    (bytearray, "bytearray", lambda value: value.hex()),
    (complex, "complex", lambda value: f"{value.real.hex()} {value.imag.hex()}"),
    (Decimal, "Decimal", str),
    (Fraction, "Fraction", lambda value: f"{value.numerator:x}/{value.denominator:x}"),
    (datetime.datetime, "datetime", lambda value: value.isoformat()),
    (datetime.date, "date", lambda value: value.isoformat()),
    (datetime.time, "time", lambda value: value.isoformat()),
    (
        datetime.timedelta,
        "timedelta",
        lambda value: f"{value.days} {value.seconds} {value.microseconds}",
    ),
    (range, "range", lambda value: f"{value.start} {value.stop} {value.step}"),
    (pathlib.PosixPath, "PosixPath", str),
    (pathlib.PurePosixPath, "PurePosixPath", str),
    (pathlib.PureWindowsPath, "PureWindowsPath", str),
    (uuid.UUID, "UUID", str),
)


def _fraction(text: str) -> Fraction:
    # Not Fraction(text): that would compute the billion digits of "1e1000000000".
    numerator, denominator = text.split("/")
    return Fraction(int(numerator, 16), int(denominator, 16))


def _complex(text: str) -> complex:
    real, imaginary = text.split(" ")
    return complex(float.fromhex(real), float.fromhex(imaginary))


_READERS: dict[str, Callable[[str], Any]] = {
    "int": lambda text: int(text, 16),
    "float": float.fromhex,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "complex": _complex,
    "Decimal": Decimal,
    "Fraction": _fraction,
    "datetime": datetime.datetime.fromisoformat,
    "date": datetime.date.fromisoformat,
    "time": datetime.time.fromisoformat,
    "timedelta": lambda text: datetime.timedelta(*map(int, text.split(" "))),
    "range": lambda text: range(*map(int, text.split(" "))),
    "PosixPath": pathlib.PosixPath,
    "PurePosixPath": pathlib.PurePosixPath,
    "PureWindowsPath": pathlib.PureWindowsPath,
    "UUID": uuid.UUID,
    "type": lambda text: _TYPES[text],
}

_TYPES: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *(bool, int, float, str, list, tuple, set, frozenset, dict, object, type(None)),
        *(Counter, OrderedDict, deque),
        *(kind for kind, _, _ in _TEXTS),
        *(
            kind
            for kind in vars(builtins).values()
            if isinstance(kind, type) and issubclass(kind, Exception)
        ),
    )
}
"""Types that both processes have, by name. A type is a value: neither side calls the other's."""
_TYPE_NAMES = {kind: name for name, kind in _TYPES.items()}
BUILT_IN_TYPES = frozenset(name for name in _TYPES if hasattr(builtins, name))
"""Names of the types of Python that cross as values."""

_COPIES: tuple[tuple[type, Callable[[Any], Any]], ...] = (
    (bool, bool),
    (int, lambda value: int.__add__(value, 0)),
    (float, lambda value: float.__add__(value, 0.0)),
    (str, lambda value: str.__str__(value) if type(value) is str else str.__add__(value, "")),
    (bytes, lambda value: bytes.__add__(value, b"")),
    (bytearray, lambda value: bytearray.__add__(bytearray(), value)),
)
"""Plain copies of instances of subclasses, made by the built-in type and not by the subclass."""
