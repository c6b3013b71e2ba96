"""Stand-ins, in the judge's process, for the program's objects.

Only plain data comes from the program. An object that is no plain data is a `Handle` here. Whatever
the test does with a handle, the program is asked to do with its object, except to compare it.
"""

from __future__ import annotations

import builtins
import socket
import types
from typing import Any

from verifier_service.code import value_codec
from verifier_service.code.program_process import MODULE


class Unsupported(BaseException):
    """A test needs the program to have, or to do, something that cannot cross as plain data."""


class ProgramGone(BaseException):
    """The program's process has ended, or does not keep to the protocol."""


class PassedBackTooMuch(BaseException):
    """A value that the program returned is too large or nested too deeply to be passed back."""


class ProgramRaised(Exception):
    """The program raised an error that cannot be raised here, such as SystemExit."""


class ProgramModule(types.ModuleType):
    """The program as a module, for test code that imports it."""

    def __init__(self, program: RemoteProgram) -> None:
        super().__init__(MODULE)
        self.__program = program

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__program.name(name)
        if found is None:
            raise AttributeError(name)
        return found


_MUCH_DEPTH = value_codec.MAX_DEPTH // 2
_MUCH_BYTES = value_codec.MAX_FRAME_BYTES // 16
"""Depth, and total size, of returned values above which the program is blamed for what is too much
to be passed back to it. If the tests were blamed, a program could choose to get no verdict."""


class RemoteProgram:
    """The program's process, behind a connection."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._classes: dict[str, Any] = {}
        self._names: dict[str, Any] = {}
        self._is_ready = False
        self._num_bytes = 0
        self._returned_much = False
        self._end: BaseException | None = None
        self.num_requests = 0

    def raise_end(self) -> None:
        """Raise the error that ended the tests once more: an `except:` of a test may have it."""
        if self._end is not None:
            raise self._end

    def name(self, name: str) -> Any:
        """The stand-in for a name of the program; None if the program has no such name."""
        if name not in self._names:
            namespace: dict[str, Any] = {}
            self.add_names([name], namespace)
            self._names[name] = namespace.get(name)
        return self._names[name]

    def add_names(self, names: list[str], namespace: dict[str, Any]) -> None:
        """Put stand-ins into a namespace, for those of the names that the program has."""
        kinds = self.ask("describe", 0, names)
        if not isinstance(kinds, list) or len(kinds) != len(names):
            raise ProgramGone("nonsense")
        for name, kind in zip(names, kinds, strict=True):
            if kind is None:
                continue
            if isinstance(kind, Handle):
                namespace[name] = kind
            elif isinstance(kind, list):
                namespace[name] = self._class(name, kind)
            else:
                namespace[name] = self.ask("get", 0, name)
            self._names[name] = namespace[name]

    def _class(self, name: str, bases: list[Any]) -> Any:
        if name not in self._classes:
            if "BaseException" in bases:
                self._classes[name] = type(name, (_exception_base(bases),), {})
            else:
                number = self._ask_raw("get", 0, name)
                if not _is_handle(number):
                    raise ProgramGone("nonsense")
                handle = {"_program": self, "_number": number[1], "__module__": MODULE}
                self._classes[name] = _ClassHandle(name, (Handle,), handle)
        return self._classes[name]

    def ask(self, operation: str, target: int, *arguments: Any) -> Any:
        """Have the program do something; the result is plain data or a handle."""
        try:
            return self._decode(self._ask_raw(operation, target, *arguments))
        except (Unsupported, ProgramGone, PassedBackTooMuch) as error:
            self._end = error
            raise

    def _ask_raw(self, operation: str, target: int, *arguments: Any) -> Any:
        self.num_requests += 1
        try:
            encoded = [value_codec.encode(argument, _sent_for) for argument in arguments]
            value_codec.send_message(self._channel, [operation, target, *encoded])
        except value_codec.NotPlain as error:
            if isinstance(error, value_codec.TooMuch) and self._returned_much:
                raise PassedBackTooMuch(f"passed back to the program: {error}") from error
            raise Unsupported(f"passed to the program: {error}") from error
        except OSError as error:
            raise ProgramGone("ended") from error
        # The first request is sent before the program is ready, which saves one wait for it.
        if not self._is_ready and self._receive() != "ready":
            raise ProgramGone("nonsense")
        self._is_ready = True
        response = self._receive()
        if isinstance(response, list) and len(response) == 2 and response[0] == "value":
            return response[1]
        if isinstance(response, list) and len(response) == 4 and response[0] == "raised":
            raise self._exception(operation, *response[1:])
        raise ProgramGone("nonsense")

    def _receive(self) -> Any:
        try:
            message, num_bytes = value_codec.receive_message(self._channel)
        except (EOFError, OSError) as error:
            raise ProgramGone("ended") from error
        except value_codec.Malformed as error:
            raise ProgramGone("nonsense") from error
        self._num_bytes += num_bytes
        self._returned_much |= self._num_bytes > _MUCH_BYTES
        return message

    def _decode(self, data: Any) -> Any:
        try:
            return value_codec.decode(data, self._handle, depth=value_codec.MAX_DEPTH - _MUCH_DEPTH)
        except value_codec.Malformed:
            self._returned_much = True  # nested deeply, or malformed: the next lines tell
        try:
            return value_codec.decode(data, self._handle)
        except value_codec.Malformed as error:
            raise ProgramGone("nonsense") from error

    def _exception(self, operation: str, name: Any, bases: Any, arguments: Any) -> Exception:
        if not (isinstance(name, str) and isinstance(bases, list) and isinstance(arguments, list)):
            raise ProgramGone("nonsense")
        values = [self._decode(argument) for argument in arguments]
        kind = self._classes.get(name)
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            kind = _exception_base(bases)
        # A StopIteration of a function that a test maps over its cases would end the test's loop,
        # and the cases after it would not be run. So it becomes a RuntimeError, as in PEP 479.
        if issubclass(kind, StopIteration | StopAsyncIteration) and operation != "next":
            kind = RuntimeError
        try:
            raised = kind(*values)
        except Exception:  # noqa: BLE001  such as UnicodeDecodeError without its five arguments
            raised = ProgramRaised(name)
        raised._from_program = True  # type: ignore[attr-defined]
        return raised

    def _handle(self, data: list[Any]) -> Any:
        """The handle that the program's data name. Raises Malformed: they name none."""
        if not _is_handle(data):
            raise value_codec.Malformed(str(data[0]))
        _, number, class_name = data
        kind = self._classes.get(class_name)
        if not (isinstance(kind, type) and issubclass(kind, Handle)):
            kind = Handle
        handle = object.__new__(kind)
        object.__setattr__(handle, "_program", self)
        object.__setattr__(handle, "_number", number)
        return handle


def _is_handle(data: Any) -> bool:
    return (
        isinstance(data, list)
        and len(data) == 3
        and data[0] == "handle"
        and type(data[1]) is int
        and isinstance(data[2], str)
    )


def _exception_base(bases: list[Any]) -> type[Exception]:
    for name in bases:
        kind = getattr(builtins, str(name), None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind
    return ProgramRaised


def _sent_for(value: Any) -> Any:
    """Data to send for a value that is no plain data: only a handle can be sent back."""
    if isinstance(value, Handle | _ClassHandle):
        return ["handle", value._number, ""]
    kind = type(value).__name__
    raise value_codec.NotPlain(f"a {kind}, which the program would have to call or to compare")


class _ClassHandle(type):
    """Stands for a class of the program, whose instances are handles."""

    _program: RemoteProgram
    _number: int

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        made = cls._program.ask("call", cls._number, list(arguments), named)
        # A test that makes an object by its class may use operators on it, so that makes the test
        # unsupported and not the program wrong. The name must look like a class: a program could
        # define a class where a function is asked for, and would then get no verdict.
        if isinstance(made, Handle) and cls.__name__[:1].isupper():
            object.__setattr__(made, "_made_by_test", True)
        return made

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls._program.ask("get", cls._number, name)


class Handle:
    """Stands for an object of the program.

    Attributes and calls are forwarded. Comparisons, truth, arithmetic and `in` never are: the
    program itself would answer the question that the test asks.
    """

    _program: RemoteProgram
    _number: int
    _made_by_test = False

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it in the program."""
        return self._program.ask("call", self._number, list(arguments), named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._program.ask("get", self._number, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._program.ask("set", self._number, name, value)

    def __len__(self) -> int:
        return self._whole("len")

    def __iter__(self) -> Any:
        return self._program.ask("iter", self._number)

    def __next__(self) -> Any:
        return self._program.ask("next", self._number)

    def __getitem__(self, key: Any) -> Any:
        return self._program.ask("item", self._number, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._program.ask("set_item", self._number, key, value)

    def __delitem__(self, key: Any) -> None:
        self._program.ask("delete_item", self._number, key)

    def __enter__(self) -> Any:
        return self._program.ask("enter", self._number)

    def __exit__(self, *error: object) -> None:
        self._program.ask("exit", self._number)

    def __str__(self) -> str:
        return self._text("str")

    def __repr__(self) -> str:
        return self._text("repr")

    def __int__(self) -> int:
        return self._whole("int")

    def __float__(self) -> float:
        found = self._program.ask("float", self._number)
        if type(found) is not float:
            raise ProgramGone("nonsense")
        return found

    def _whole(self, operation: str) -> int:
        found = self._program.ask(operation, self._number)
        if type(found) is not int:
            raise ProgramGone("nonsense")
        return found

    def _text(self, operation: str) -> str:
        found = self._program.ask(operation, self._number)
        if type(found) is not str:
            raise ProgramGone("nonsense")
        return found

    def __hash__(self) -> int:
        return object.__hash__(self)

    def __bool__(self) -> bool:
        raise self._not_asked("the truth")

    def __contains__(self, value: object) -> bool:
        raise self._not_asked("membership", value)

    def __abs__(self) -> Any:
        raise self._not_asked("the absolute value")

    def __neg__(self) -> Any:
        raise self._not_asked("the negative")

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Handle) and self._number == other._number:
            return True
        if self._is_for_the_program(other):
            raise self._not_asked("equality", other)
        return False

    def _not_asked(self, question: str, other: object = None) -> BaseException:
        """The error of an operator that is not forwarded; it blames the test or the program."""
        message = f"{question} of an object of the program is not asked for"
        return Unsupported(message) if self._is_for_the_program(other) else TypeError(message)

    def _is_for_the_program(self, other: object) -> bool:
        """Whether the test made one of the two objects, so that the program has to decide."""
        return self._made_by_test or (isinstance(other, Handle) and other._made_by_test)


def _unordered(self: Handle, other: object) -> bool:
    raise self._not_asked("the order", other)


def _no_arithmetic(self: Handle, other: object) -> Any:
    raise self._not_asked("arithmetic", other)


for _name in ("lt", "le", "gt", "ge"):
    setattr(Handle, f"__{_name}__", _unordered)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(Handle, f"__{_name}__", _no_arithmetic)
    setattr(Handle, f"__r{_name}__", _no_arithmetic)
