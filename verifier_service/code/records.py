"""Objects of classes that test code defines, as they cross between a program and its judge.

An object crosses as the name of its class and the values of its fields. Objects may refer to each
other in circles, so a message with objects has a table of them, and its values name their places.

    ["records", [[class, origin, [[field, value], ...]], ...], message]

The origin says which object of the judge it is a copy of; None for one that the program has made.
Nothing is copied back: the program works on copies of its own.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, ItemsView
from typing import Any

from verifier_service.code import value_codec
from verifier_service.code.value_codec import Malformed, ReceiveHandle, SendHandle

TAG = "record"


class Records:
    """The objects that one side has sent or received, and their origins.

    Args:
        class_named: gives the class of a name, or None.
        is_judge: whether this side is the judge, which numbers the objects and checks what it gets.
    """

    def __init__(
        self, class_named: Callable[[str], type | None] = lambda name: None, *, is_judge: bool
    ) -> None:
        self.class_named = class_named
        self.is_judge = is_judge
        self._origins: dict[int, int] = {}
        self._kept: list[Any] = []  # an identity counts while its object lives
        self._prepared: set[type] = set()

    def is_record(self, value: Any) -> bool:
        """Whether a value is an object of one of the classes."""
        kind = type(value)
        return self.class_named(kind.__name__) is kind

    def origin(self, value: Any) -> int | None:
        """Number of the judge's object that a value is, or is a copy of."""
        found = self._origins.get(id(value))
        if found is None and self.is_judge:
            found = self._origins[id(value)] = len(self._kept)
            self._kept.append(value)
        return found

    def keep(self, value: Any, origin: int) -> None:
        """Note the origin of an object that has arrived. Raises Malformed: there is none."""
        if self.is_judge:
            if origin >= len(self._kept):
                raise Malformed("not an origin")
            origin = self._origins[id(self._kept[origin])]
        self._origins[id(value)] = origin
        self._kept.append(value)

    def original(self, value: Any) -> Any:
        """The judge's object that a value is, or is a copy of."""
        origin = self._origins.get(id(value))
        return value if origin is None else self._kept[origin]

    def prepare(self, kind: Any) -> None:
        """Let objects of a class without an equality of its own be equal to their copies."""
        if kind not in self._prepared and kind.__eq__ is object.__eq__:
            original = self.original
            kind.__eq__ = lambda one, other: original(one) is original(other)
            kind.__hash__ = lambda one: object.__hash__(original(one))
        self._prepared.add(kind)


class RecordWriter:
    """Makes the data of one message, with a table of the objects in it."""

    def __init__(self, records: Records, handle: SendHandle) -> None:
        self._records = records
        self._handle = handle
        self._places: dict[int, int] = {}
        self._found: list[Any] = []

    def encode(self, value: Any) -> Any:
        """A value as data, see `value_codec.encode`, in which objects are places in the table."""
        return value_codec.encode(value, self._place)

    def _place(self, value: Any) -> Any:
        if not self._records.is_record(value):
            return self._handle(value)
        if id(value) not in self._places:
            self._places[id(value)] = len(self._found)
            self._found.append(value)
        return [TAG, self._places[id(value)]]

    def whole(self, message: Any) -> Any:
        """The message, with its table if it has objects. Raises as `value_codec.encode`."""
        table = []
        for value in self._found:  # it grows
            fields = [[name, self.encode(item)] for name, item in _fields_of(value)]
            table.append([type(value).__name__, self._records.origin(value), fields])
        return ["records", table, message] if table else message


def split(message: Any) -> tuple[list[Any], Any]:
    """The table of a message, and the rest. Raises Malformed: the table is none."""
    if not (isinstance(message, list) and len(message) == 3 and message[0] == "records"):
        return [], message
    _, table, rest = message
    if not isinstance(table, list):
        raise Malformed("no table of objects")
    return table, rest


def reader(table: list[Any], records: Records, handle: ReceiveHandle) -> Callable[[Any], Any]:
    """A function that reads the values of a message with this table.

    Raises:
        Malformed: it is not of a form that `RecordWriter` makes.
    """
    found = [_blank(row, records) for row in table]

    def place(data: list[Any]) -> Any:
        if data[0] != TAG:
            return handle(data)
        if len(data) != 2 or type(data[1]) is not int or not 0 <= data[1] < len(found):
            raise Malformed("no such object")
        return found[data[1]]

    # The last first: an object whose hash needs its fields stands before what it refers to.
    for one, (_, _, fields) in reversed(list(zip(found, table, strict=True))):
        for name, data in _pairs(fields):
            if records.is_judge and not _is_field(type(one), name):
                raise Malformed(f"no field: {name}")
            _put(one, name, value_codec.decode(data, place))
    return lambda data: value_codec.decode(data, place)


def _put(one: Any, name: str, value: Any) -> None:
    try:
        object.__setattr__(one, name, value)  # a frozen data class refuses `setattr`
    except AttributeError as error:
        raise Malformed(f"no field: {name}") from error


def _blank(row: Any, records: Records) -> Any:
    """An object without fields."""
    if not isinstance(row, list) or len(row) != 3 or not isinstance(row[0], str):
        raise Malformed("not an object")
    kind = records.class_named(row[0])
    if kind is None:
        raise Malformed(f"no class {row[0]}")
    found: Any = object.__new__(kind)
    origin = row[1]
    if origin is not None:
        if type(origin) is not int or origin < 0:
            raise Malformed("not an origin")
        records.keep(found, origin)
    return found


def _pairs(fields: Any) -> list[Any]:
    if not isinstance(fields, list):
        raise Malformed("no fields")
    for one in fields:
        if not isinstance(one, list) or len(one) != 2 or not isinstance(one[0], str):
            raise Malformed("not a field")
    return fields


def _is_field(kind: type, name: str) -> bool:
    """Whether an object may keep a value under a name: not under that of a method of its class."""
    if not name.isidentifier() or name.startswith("__"):
        return False
    shared = inspect.getattr_static(kind, name, None)
    return isinstance(shared, types.MemberDescriptorType) or not (
        callable(shared) or hasattr(type(shared), "__get__")
    )


def _fields_of(value: Any) -> ItemsView[str, Any]:
    """Names and values of the fields of an object, wherever its class keeps them."""
    found: dict[str, Any] = dict(getattr(value, "__dict__", {}))
    slots = getattr(type(value), "__slots__", ())
    for name in (slots,) if isinstance(slots, str) else slots:
        if hasattr(value, name):
            found[name] = getattr(value, name)
    return found.items()
