"""The program's process: runs its source, then answers the judge's requests for its objects.

Nothing here is trusted, because the program can change all of it. It gains nothing by that: it can
send the judge other data than its functions returned, but so it can by returning other data.
"""

from __future__ import annotations

import builtins
import io
import os
import sys
import types
from typing import Any

from verifier_service.code import value_codec
from verifier_service.code.missing_imports import give_usual_names
from verifier_service.code.records import Records, RecordWriter, reader, split
from verifier_service.sandbox.entries import EntryContext, compile_program, run_to_exit_code

MODULE = "solution"
CAPTURE = "__capture__"
"""Name of the function that the program's module has for tests that compare its output."""
_exit = os._exit
"""`os._exit`, which programs may put something else in the place of."""


def serve_program(context: EntryContext) -> None:
    """Sandbox entry. The payload is the program's source."""
    _serve(context, expects_classes=False)


def serve_with_classes(context: EntryContext) -> None:
    """Sandbox entry as `serve_program`. The judge first sends the classes of the tests."""
    _serve(context, expects_classes=True)


def _serve(context: EntryContext, *, expects_classes: bool) -> None:
    code = compile_program(context, f"{MODULE}.py")
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    channel = context.channel
    assert channel is not None
    context.begin()
    given = _receive_classes(channel, module) if expects_classes else frozenset()

    module.__dict__[CAPTURE] = _Capture().take

    def run() -> None:
        give_usual_names(code, module.__dict__)
        exec(code, module.__dict__)
        _ObjectServer(channel, module, given).serve()

    status = run_to_exit_code(run)
    sys.stdout.flush()
    sys.stderr.flush()
    _exit(status)


def _receive_classes(channel: Any, module: types.ModuleType) -> frozenset[str]:
    """Define the classes of the tests in the program's module. Returns their names."""
    try:
        (names, source), _ = value_codec.receive_message(channel)
    except EOFError:  # the tests cannot be run
        os._exit(0)
    namespace: dict[str, Any] = {"__name__": MODULE}
    exec(source, namespace)
    module.__dict__.update((name, namespace[name]) for name in names)
    return frozenset(names)


class _Capture:
    """The output of the program since the last look at it, for tests that compare it.

    A program can replace this: it gains nothing that it could not print.
    """

    def __init__(self) -> None:
        self._streams: tuple[io.StringIO, io.StringIO] | None = None

    def take(self) -> tuple[str, str]:
        """Standard output and error since the last call; the first begins to capture."""
        found = ("", "")
        if self._streams is not None:
            found = self._streams[0].getvalue(), self._streams[1].getvalue()
        self._streams = io.StringIO(), io.StringIO()
        sys.stdout, sys.stderr = self._streams
        return found


class _ObjectServer:
    """Answers the judge's requests about the program's objects."""

    def __init__(self, channel: Any, module: types.ModuleType, given: frozenset[str]) -> None:
        self._given = given
        self._records = Records(self._class_named, is_judge=False)
        self._channel = channel
        self._module = module
        self._objects: list[Any] = [module]
        self._numbers: dict[int, int] = {id(module): 0}

    def serve(self) -> None:
        """Answer requests until the judge closes the connection."""
        value_codec.send_message(self._channel, "ready")
        while True:
            try:
                request, _ = value_codec.receive_message(self._channel)
            except EOFError:
                return
            try:
                writer = RecordWriter(self._records, self._handle)
                response = writer.whole(["value", writer.encode(self._do(request))])
            except BaseException as error:  # noqa: BLE001  whatever the program raises
                response = ["raised", *self._describe(error)]
            value_codec.send_message(self._channel, response)

    def _class_named(self, name: str) -> type | None:
        """The class that stands for one of the tests: theirs, or the program's own."""
        found = self._module.__dict__.get(name) if name in self._given else None
        return found if isinstance(found, type) else None

    def _do(self, request: Any) -> Any:
        table, (operation, target, *parts) = split(request)
        subject = self._objects[target]
        read = reader(table, self._records, self._object)
        arguments = [read(part) for part in parts]
        if operation == "describe":
            return [self._kind(name) for name in arguments[0]]
        if operation == "call":
            positional, named = arguments
            return subject(*positional, **named)
        return _OPERATIONS[operation](subject, *arguments)

    def _kind(self, name: str) -> Any:
        """The kind of object that a name of the program stands for.

        None: there is no such name. A list: a class, with the names of its built-in bases. A
        function: itself, which is sent as a handle. "value": anything else.
        """
        value = getattr(self._module, name, None)
        if isinstance(value, type):
            return _base_names(value)
        if value is None and not hasattr(self._module, name):
            return None
        return value if type(value) is types.FunctionType else "value"

    def _handle(self, value: Any) -> Any:
        """The handle of an object that is not plain data; the same one each time."""
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)
        return ["handle", number, type(value).__name__]

    def _object(self, data: list[Any]) -> Any:
        """The object of a handle, or the slice that the data describe."""
        if data[0] == "slice":
            return slice(*(value_codec.decode(part, self._object) for part in data[1:]))
        if data[0] != "handle":
            raise value_codec.Malformed(data[0])
        return self._objects[data[1]]

    def _describe(self, error: BaseException) -> list[Any]:
        arguments = []
        for argument in error.args:
            try:
                arguments.append(value_codec.encode(argument, self._handle))
            except value_codec.NotPlain:
                arguments.append(repr(argument))
        return [type(error).__name__, _base_names(type(error)), arguments]


def _base_names(kind: type) -> list[str]:
    """Names of the built-in classes that a class derives from, the nearest first."""
    return [
        base.__name__ for base in kind.__mro__ if getattr(builtins, base.__name__, None) is base
    ]


_OPERATIONS: dict[str, Any] = {
    "get": getattr,
    "set": setattr,
    "len": len,
    "iter": iter,
    "next": next,
    "item": lambda subject, key: subject[key],
    "set_item": lambda subject, key, value: subject.__setitem__(key, value),
    "delete_item": lambda subject, key: subject.__delitem__(key),
    "str": str,
    "repr": repr,
    "int": int,
    "float": float,
    "enter": lambda subject: subject.__enter__(),
    "exit": lambda subject: subject.__exit__(None, None, None),
}
