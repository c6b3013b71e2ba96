"""Stand-ins, in the judge's process, for the program's objects.

Only plain data comes from the program. An object that is no plain data is a `Handle` here. Whatever
the test does with a handle, the program is asked to do with its object, except to compare it. What
an honest program would return as plain data is asked for nothing that plain data would answer.
"""

from __future__ import annotations

import builtins
import contextlib
import itertools
import socket
import sys
import types
from collections.abc import Callable
from typing import Any

from verifier_service.code import value_codec
from verifier_service.code.object_uses import CORE_ATTRIBUTES
from verifier_service.code.program_process import MODULE
from verifier_service.code.records import Records, RecordWriter, reader, split
from verifier_service.code.result_uses import Span
from verifier_service.code.value_flow import element_of, result_of
from verifier_service.sandbox.entries import awaiting_partner

TESTS_FILE = "tests.py"
"""Name of the file as which test code is compiled."""


class Unsupported(BaseException):
    """A test passes the program something of its own that cannot cross as plain data."""


class NotPlainData(TypeError):
    """The program returned an object where only plain data can be judged.

    A TypeError, because Python asks for `__len__` on its own and expects no other.
    """


class ProgramGone(BaseException):
    """The program's process has ended, or does not keep to the protocol."""


class PassedBackTooMuch(BaseException):
    """A value that holds results is too large or nested too deeply to be passed back."""


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


MAX_HANDLES = 2**31
"""Largest number of a handle, plus one. Two numbers below it never have the same hash."""


class RemoteProgram:
    """The program's process, behind a connection."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._classes: dict[str, Any] = {}
        self._names: dict[str, Any] = {}
        self._is_ready = False
        self._iterated: set[int] = set()
        self._end: BaseException | None = None
        self._table: list[Any] = []
        self.records = Records(is_judge=True)
        """Objects of classes of the tests that have crossed."""
        self.num_requests = 0
        self.exceptions_of_tests: frozenset[str] = frozenset()
        """Names that the test code uses as exceptions, see `exception_names`."""
        self.answering: frozenset[str] = frozenset()
        """Makers of objects that the tests use as such, see `ObjectUses`."""
        self.passes_results: Callable[[Span], bool] = lambda span: False
        """Whether the call at a place of the test code passes results back to the program."""

    def give_classes(self, names: list[str], source: str) -> None:
        """Send the classes of the tests, which a program of `serve_with_classes` waits for."""
        with contextlib.suppress(OSError):  # the program has ended; the first request will tell
            self._channel.sendall(value_codec.frame_of([names, source]))

    def raise_end(self) -> None:
        """Raise the error that ended the run, which `except:` in a test may have caught."""
        if self._end is not None:
            raise self._end

    def check_arguments(self, arguments: list[Any], named: dict[str, Any]) -> None:
        """Raise Unsupported if a call with these arguments cannot be sent."""
        self._message("call", 0, arguments, named)

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
                object.__setattr__(kind, "_maker", name)
                namespace[name] = kind
            elif isinstance(kind, list):
                namespace[name] = self._class(name, kind)
            else:
                namespace[name] = self.ask("get", 0, name, maker=name)
            self._names[name] = namespace[name]

    def _class(self, name: str, bases: list[Any]) -> Any:
        if name not in self._classes:
            if "BaseException" in bases:
                made_here = name in self.exceptions_of_tests
                members = {"_program": self, "_is_made_here": made_here, "__module__": MODULE}
                self._classes[name] = _ExceptionClass(name, (_exception_base(bases),), members)
            else:
                number = self._ask_raw("get", 0, name)
                if not _is_handle(number):
                    raise ProgramGone("nonsense")
                handle = {"_program": self, "_number": number[1], "__module__": MODULE}
                self._classes[name] = _ClassHandle(name, (Handle,), handle)
        return self._classes[name]

    def ask(self, operation: str, target: int, *arguments: Any, maker: str = "") -> Any:
        """Have the program do something; the result is plain data or a handle.

        Args:
            operation: what to do.
            target: number of the object.
            arguments: values that the operation needs.
            maker: maker of the result, as `value_flow` names it.
        """
        return self._decode(self._ask_raw(operation, target, *arguments), maker)

    def iterate(self, handle: Handle) -> Any:
        """An iterator of the program's over an object.

        Where plain data is expected there is one for each object: its elements could be others
        each time, such as those that the test is about to expect.
        """
        number, maker = handle._number, handle._maker
        iterator = self.ask("iter", number, maker=maker)
        is_itself = isinstance(iterator, Handle) and iterator._number == number
        if number in self._iterated and not is_itself and maker not in self.answering:
            raise NotPlainData("the program returned an object that is iterated over twice")
        self._iterated.add(number)
        return iterator

    def _message(self, operation: str, target: int, *arguments: Any) -> bytes:
        """A request. Raises Unsupported, PassedBackTooMuch or NotPlainData: it cannot be sent."""
        try:
            writer = RecordWriter(self.records, _sent_for)
            encoded = [writer.encode(one) for one in arguments]
            return value_codec.frame_of(writer.whole([operation, target, *encoded]))
        except value_codec.TooMuch as error:
            # A program that may return what is too much must not choose to have no verdict by it.
            if self.passes_results(_place_in_tests()):
                raise PassedBackTooMuch(f"passed back to the program: {error}") from error
            raise Unsupported(f"passed to the program: {error}") from error
        except value_codec.NotPlain as error:
            raise Unsupported(f"passed to the program: {error}") from error

    def _ask_raw(self, operation: str, target: int, *arguments: Any) -> Any:
        self.raise_end()
        try:
            return self._exchange(operation, target, *arguments)
        except (Unsupported, PassedBackTooMuch, ProgramGone) as error:
            self._end = error
            raise

    def _exchange(self, operation: str, target: int, *arguments: Any) -> Any:
        self.num_requests += 1
        message = self._message(operation, target, *arguments)
        try:
            self._channel.sendall(message)
        except OSError as error:
            raise ProgramGone("ended") from error
        # The first request is sent before the program is ready, which saves one wait for it.
        if not self._is_ready and self._receive() != "ready":
            raise ProgramGone("nonsense")
        self._is_ready = True
        self._table, response = self._split(self._receive())
        if isinstance(response, list) and len(response) == 2 and response[0] == "value":
            return response[1]
        if isinstance(response, list) and len(response) == 4 and response[0] == "raised":
            raise self._exception(operation, *response[1:])
        raise ProgramGone("nonsense")

    def _receive(self) -> Any:
        try:
            with awaiting_partner():
                message, _ = value_codec.receive_message(self._channel)
        except (EOFError, OSError) as error:
            raise ProgramGone("ended") from error
        except value_codec.Malformed as error:
            raise ProgramGone("nonsense") from error
        return message

    def _split(self, message: Any) -> tuple[list[Any], Any]:
        try:
            return split(message)
        except value_codec.Malformed as error:
            raise ProgramGone("nonsense") from error

    def _decode(self, data: Any, maker: str) -> Any:
        maker = maker if _is_handle(data) else element_of(maker)
        try:
            return reader(self._table, self.records, lambda one: self._handle(one, maker))(data)
        except value_codec.Malformed as error:
            self._end = ProgramGone("nonsense")
            raise self._end from error

    def _exception(self, operation: str, name: Any, bases: Any, arguments: Any) -> Exception:
        if not (isinstance(name, str) and isinstance(bases, list) and isinstance(arguments, list)):
            raise ProgramGone("nonsense")
        values = [self._decode(argument, "") for argument in arguments]
        kind = self._classes.get(name)
        if not (isinstance(kind, type) and issubclass(kind, Exception)):
            kind = _exception_base(bases)
        # A StopIteration of a function that a test maps over its cases would end the test's loop,
        # and the cases after it would not be run. So it becomes a RuntimeError, as in PEP 479.
        if issubclass(kind, StopIteration | StopAsyncIteration) and operation != "next":
            kind = RuntimeError
        try:
            raised: Exception = type.__call__(kind, *values)
        except Exception:  # noqa: BLE001  such as UnicodeDecodeError without its five arguments
            raised = ProgramRaised(name)
        raised._from_program = True  # type: ignore[attr-defined]
        return raised

    def _handle(self, data: list[Any], maker: str) -> Any:
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
        object.__setattr__(handle, "_maker", maker)
        return handle


def _place_in_tests() -> Span:
    """The place of the call in test code that is under way; of Nones where there is none."""
    frame: types.FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename != TESTS_FILE:
        frame = frame.f_back
    if frame is None:
        return (None,) * 4
    instruction = frame.f_lasti // 2  # an instruction has two bytes
    return next(itertools.islice(frame.f_code.co_positions(), instruction, None))


def _is_handle(data: Any) -> bool:
    return (
        isinstance(data, list)
        and len(data) == 3
        and data[0] == "handle"
        and type(data[1]) is int
        and 0 <= data[1] < MAX_HANDLES
        and isinstance(data[2], str)
    )


def _exception_base(bases: list[Any]) -> type[Exception]:
    for name in bases:
        kind = getattr(builtins, str(name), None)
        if isinstance(kind, type) and issubclass(kind, Exception):
            return kind
    return ProgramRaised


def _sent_for(value: Any) -> Any:
    """Data to send for a value that is no plain data: only handles and slices can be sent.

    Raises:
        NotPlainData: the value is an error of the program, or a class of its errors. Whether one
            comes into being here is the program's choice.
        NotPlain: the value is an object of the tests.
    """
    if isinstance(value, Handle | _ClassHandle):
        return ["handle", value._number, ""]
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return ["slice", *(value_codec.encode(part, _sent_for) for part in parts)]
    kind = value if isinstance(value, type) else type(value)
    is_error = issubclass(kind, BaseException)
    if is_error and (kind.__module__ == __name__ or hasattr(value, "_from_program")):
        raise NotPlainData("an error of the program cannot be passed back to it")
    raise value_codec.NotPlain(
        f"a {type(value).__name__}, which the program would have to call or to compare"
    )


class _ClassHandle(type):
    """Stands for a class of the program, whose instances are handles."""

    _program: RemoteProgram
    _number: int

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        maker = result_of(cls.__name__)
        return cls._program.ask("call", cls._number, list(arguments), named, maker=maker)

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return cls._program.ask("get", cls._number, name, maker=f".{name}")


class _ExceptionClass(type):
    """Stands for an exception class of the program, which the test may catch or compare with.

    Its objects are made in the program, and so are handles: an exception made here would be true,
    and `class is_prime(Exception)` would pass `assert is_prime(7)`. Only where the test code uses
    the class as an exception, as in `raise X(...)`, are they made here.
    """

    _program: RemoteProgram
    _is_made_here: bool

    def __call__(cls, *arguments: Any, **named: Any) -> Any:
        if cls._is_made_here:
            return super().__call__(*arguments, **named)
        return cls._program.ask("get", 0, cls.__name__)(*arguments, **named)


class Handle:
    """Stands for an object of the program.

    Attributes and calls are forwarded. Comparisons, truth, arithmetic and `in` never are: the
    program itself would answer the question that the test asks. Length, elements and the methods of
    plain data are forwarded only where the tests use the object as one of the program's classes.
    """

    _program: RemoteProgram
    _number: int
    _maker: str

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call it in the program."""
        maker = result_of(self._maker)
        return self._program.ask("call", self._number, list(arguments), named, maker=maker)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in CORE_ATTRIBUTES:
            self._answer_as_an_object(f"`{name}`")
        return self._program.ask("get", self._number, name, maker=f".{name}")

    def __setattr__(self, name: str, value: Any) -> None:
        self._program.ask("set", self._number, name, value)

    def __len__(self) -> int:
        self._answer_as_an_object("the length")
        return self._whole("len")

    def __iter__(self) -> Any:
        return self._program.iterate(self)

    def __next__(self) -> Any:
        return self._program.ask("next", self._number, maker=element_of(self._maker))

    def __getitem__(self, key: Any) -> Any:
        self._answer_as_an_object("an element")
        return self._program.ask("item", self._number, key, maker=element_of(self._maker))

    def __setitem__(self, key: Any, value: Any) -> None:
        self._answer_as_an_object("an element")
        self._program.ask("set_item", self._number, key, value)

    def __delitem__(self, key: Any) -> None:
        self._answer_as_an_object("an element")
        self._program.ask("delete_item", self._number, key)

    def __enter__(self) -> Any:
        return self._program.ask("enter", self._number, maker=self._maker)

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
        return hash((Handle, self._number))  # equal handles, as `__eq__` has it, are one key

    def __bool__(self) -> bool:
        raise _not_asked("the truth")

    def __contains__(self, value: object) -> bool:
        raise _not_asked("membership")

    def __abs__(self) -> Any:
        raise _not_asked("the absolute value")

    def __neg__(self) -> Any:
        raise _not_asked("the negative")

    def __eq__(self, other: object) -> bool:
        """Whether both stand for the same object; tests that need more are not judged."""
        return isinstance(other, Handle) and self._number == other._number

    def _answer_as_an_object(self, question: str) -> None:
        """Refuse what plain data would answer, unless the tests expect an object."""
        if self._maker not in self._program.answering:
            raise _not_asked(question)


def _not_asked(question: str) -> NotPlainData:
    return NotPlainData(f"{question} of an object of the program is not asked for")


def _unordered(self: Handle, other: object) -> bool:
    raise _not_asked("the order")


def _no_arithmetic(self: Handle, other: object) -> Any:
    raise _not_asked("arithmetic")


for _name in ("lt", "le", "gt", "ge"):
    setattr(Handle, f"__{_name}__", _unordered)
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
    setattr(Handle, f"__{_name}__", _no_arithmetic)
    setattr(Handle, f"__r{_name}__", _no_arithmetic)
