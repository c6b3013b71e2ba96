"""The program's process: runs its source, then answers the judge's requests for its objects.

Nothing here is trusted, because the program can change all of it. It gains nothing by that: it can
send the judge other data than its functions returned, but so it can by returning other data.
"""

from __future__ import annotations

import builtins
import os
import sys
import types
from typing import Any

from verifier_service.code import value_codec
from verifier_service.sandbox.entries import EntryContext, compile_program, run_to_exit_code

MODULE = "solution"


def serve_program(context: EntryContext) -> None:
    """Sandbox entry. The payload is the program's source."""
    code = compile_program(context, f"{MODULE}.py")
    module = types.ModuleType(MODULE)
    sys.modules[MODULE] = module
    channel = context.channel
    assert channel is not None
    context.begin()

    def run() -> None:
        exec(code, module.__dict__)
        _ObjectServer(channel, module).serve()

    status = run_to_exit_code(run)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


class _ObjectServer:
    """Answers the judge's requests about the program's objects."""

    def __init__(self, channel: Any, module: types.ModuleType) -> None:
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
                response = ["value", value_codec.encode(self._do(*request), self._handle)]
            except BaseException as error:  # noqa: BLE001  whatever the program raises
                response = ["raised", *self._describe(error)]
            value_codec.send_message(self._channel, response)

    def _do(self, operation: str, target: int, *parts: Any) -> Any:
        subject = self._objects[target]
        arguments = [value_codec.decode(part, self._object) for part in parts]
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
