"""Entries: the functions with which a confined child handles its payload.

An entry takes an `EntryContext`. `script` runs Python source, `compiled` the code that an earlier
`script` compiled. `binary` and `tool` start programs that are not Python. Other entries are named
to the `Runner`, and the zygotes import them. They run in the child, under every layer, with all
that their module has imported. The child ends with exit code 0 when its entry returns.

The order decides which messages can be believed. Until `EntryContext.begin` the child runs only
code of the service. `begin` closes the status socket, so that foreign code cannot write to it.
"""

from __future__ import annotations

import _thread
import atexit
import builtins
import contextlib
import ctypes
import errno
import json
import marshal
import os
import socket
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from verifier_service.sandbox.gate import Gate
from verifier_service.sandbox.thread_states import AWAITS_PARTNER

CONFINED, COMPILE_ERROR, BEGUN, BROKEN = b"S", b"C", b"R", b"E"
"""Messages on the status socket: layers in force, not Python, about to run, a failure of ours."""

_PACKAGE_FOLDER = os.path.join(os.path.dirname(os.path.dirname(__file__)), "")
PROGRAM_FILE = "main.py"
PROGRAM_NAME = "main"
"""First argument of a program that is not Python."""
OUTPUT_FILE = "output"
"""The file in the scratch directory that a tool writes."""

MAX_COMPILED_BYTES = 2**18
"""Largest compiled program that `script` gives back, in bytes; a larger one is compiled again."""

MAX_THREAD_STACK_BYTES = 2**28
"""Largest stack that `threading.stack_size` gives: half of the default limit on memory."""

PAYLOAD_FD = 4
_PR_SET_NAME, _PR_GET_NAME, _THREAD_NAME_BYTES = 15, 16, 16
ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": "/"}
NOT_STARTED = 126
"""Exit code of a process that could not become a program, the one that shells use."""

_libc = ctypes.CDLL(None)
_exit = os._exit
"""`os._exit`, which programs may put something else in the place of: data sets' guards do."""


@dataclass
class EntryContext:
    """The argument of an entry.

    | attribute | meaning |
    |---|---|
    | `payload` | the bytes of `Program.payload`; empty for the entry `binary` |
    | `channel` | in a pair, a stream socket to the other process; else None |
    | `result` | a descriptor, whose bytes become `Execution.result`; or None |
    | `gate` | in a zygote of the kind `native`, permits the one exec; else None |
    | `arguments` | arguments of the program, without its name |
    """

    payload: bytes
    channel: socket.socket | None
    result: int | None
    _status: socket.socket
    gate: Gate | None = None
    arguments: tuple[str, ...] = ()

    def begin(self) -> None:
        """Say that foreign code follows. To be called before its first line."""
        _bound_thread_stacks()
        self._status.send(BEGUN)
        self._status.close()

    def execute(
        self,
        program: str | int,
        arguments: Sequence[str],
        environment: Mapping[str, str] = types.MappingProxyType({}),
    ) -> None:
        """Begin, and become a program. Raises OSError if the kernel refuses."""
        assert self.gate is not None
        # The exec closes the status socket. Inherited, it would let the program forge messages.
        self._status.set_inheritable(False)
        self._status.send(BEGUN)
        self.gate.execute(program, arguments, {**ENVIRONMENT, **environment})

    def fail(self, why: str) -> NoReturn:
        """End the process for a failure of the service, not of the payload."""
        self._status.send(BROKEN + why.encode())
        os._exit(1)

    def end_with_compile_error(self) -> NoReturn:
        """End the process because the payload is not Python. Only possible before `begin`."""
        self._status.send(COMPILE_ERROR)
        os._exit(1)


Entry = Callable[[EntryContext], None]


def _bound_thread_stacks() -> None:
    """Give threads smaller stacks than a program may ask for, such as one of a gigabyte.

    Programs ask for more than they use, where only what is used counts. Here the address space
    counts, so that such a thread could not start.
    """
    set_size = _thread.stack_size

    def stack_size(size: int = 0, /) -> int:
        return set_size(min(size, MAX_THREAD_STACK_BYTES))

    _thread.stack_size = threading.stack_size = stack_size


@contextlib.contextmanager
def awaiting_partner() -> Iterator[None]:
    """Say, as the judge of a pair, that this thread waits for a message of the program.

    The thread's name says so, which the runner can read without privileges. A program that sleeps
    meanwhile is idle; while its judge sleeps for another reason, it is not.
    """
    name = ctypes.create_string_buffer(_THREAD_NAME_BYTES)
    _libc.prctl(_PR_GET_NAME, name)
    _libc.prctl(_PR_SET_NAME, AWAITS_PARTNER.encode())
    try:
        yield
    finally:
        _libc.prctl(_PR_SET_NAME, name)


def script(context: EntryContext) -> None:
    """Run the payload as Python would run a file: as the module `__main__`, to its exit code.

    The result, if the caller wants one, is the compiled code, as the payload of `compiled`.
    """
    code = compile_program(context, PROGRAM_FILE)
    if context.result is not None:
        compiled_code = marshal.dumps(code)
        with open(context.result, "wb") as file:
            file.write(compiled_code if len(compiled_code) <= MAX_COMPILED_BYTES else b"")
    _run_as_main(context, code)


def compiled(context: EntryContext) -> None:
    """Run the result of an earlier `script`, which need not be compiled again."""
    _run_as_main(context, marshal.loads(context.payload))


def _run_as_main(context: EntryContext, code: types.CodeType) -> NoReturn:
    module = enter_main_module(context)
    end_process(run_to_exit_code(lambda: exec(code, module.__dict__)))


def enter_main_module(context: EntryContext) -> types.ModuleType:
    """Begin, in a new module `__main__`, as Python does where it runs a file."""
    sys.argv = [PROGRAM_FILE, *context.arguments]
    sys.orig_argv = [sys.executable, *sys.argv]
    # Modules beside the program can be imported, as where Python runs a file.
    if (directory := os.getcwd()) != "/":
        sys.path.insert(0, directory)
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    module.__dict__["__file__"] = PROGRAM_FILE
    sys.modules["__main__"] = module
    if context.channel is not None:
        context.channel.detach()
    context.begin()
    return module


def binary(context: EntryContext) -> None:
    """Become the payload, a program of this machine that needs no libraries."""
    os.set_inheritable(PAYLOAD_FD, False)  # the program cannot read its own file
    try:
        context.execute(PAYLOAD_FD, [PROGRAM_NAME, *context.arguments])
    except OSError as error:  # not a program of this machine, or larger than its memory
        os.write(2, f"cannot be started: {error.strerror}\n".encode())
        os._exit(NOT_STARTED)


def tool(context: EntryContext) -> None:
    """Become a compiler or an interpreter, see `tool_payload`."""
    header, _, content = context.payload.partition(b"\n")
    order = json.loads(header)
    with open(order["input"], "wb") as file:
        file.write(content)
    arguments = [*order["arguments"], *context.arguments]
    try:
        context.execute(arguments[0], arguments, order["environment"])
    except OSError as error:
        context.fail(f"{arguments[0]}: {errno.errorcode.get(error.errno or 0)}")


def tool_payload(
    arguments: Sequence[str],
    input_name: str,
    content: bytes,
    environment: Mapping[str, str] = types.MappingProxyType({}),
) -> bytes:
    """The payload of the entry `tool`: a line of JSON, then the content of the input file.

    Args:
        arguments: arguments of the tool, the first of which is its absolute path. Those of the
            program follow them.
        input_name: name of the input file in the scratch directory, where the tool is started.
        content: content of the input file.
        environment: variables of the tool besides those of every program.
    """
    order = {"arguments": arguments, "input": input_name, "environment": dict(environment)}
    return json.dumps(order).encode() + b"\n" + content


def compile_program(context: EntryContext, filename: str) -> types.CodeType:
    """The payload as code; ends the process if it is not Python. Only possible before `begin`."""
    try:
        return compile(context.payload, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        traceback.print_exc(limit=0)
        sys.stderr.flush()
        context.end_with_compile_error()


def run_to_exit_code(work: Callable[[], object]) -> int:
    """Call a function, and return the exit code that the interpreter would end with."""
    try:
        work()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)  # noqa: T201
        return 1
    except BaseException as error:  # noqa: BLE001  the interpreter catches every one, too
        trace = _without_ours(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def _without_ours(trace: types.TracebackType | None) -> types.TracebackType | None:
    """The trace from its first frame in the program; a user has no use for the service's frames."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(_PACKAGE_FOLDER):
        trace = trace.tb_next
    return trace


def end_process(code: int) -> NoReturn:
    """End as the interpreter does: wait for threads, run exit handlers, flush."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        for stream in (sys.stdout, getattr(sys, "__stdout__", None)):  # programs replace both
            if stream is not None and not getattr(stream, "closed", False):
                stream.flush()
    except (OSError, ValueError):
        code = code or 120  # the interpreter's exit code for output that could not be flushed
    if sys.stderr is not None and not getattr(sys.stderr, "closed", False):
        sys.stderr.flush()
    _exit(code)


ENTRIES: dict[str, Entry] = {
    "script": script,
    "compiled": compiled,
    "binary": binary,
    "tool": tool,
}
NATIVE = frozenset({"binary", "tool"})
"""Entries whose programs are not Python: they need a zygote of the kind `native`."""
