"""What a child does with its payload once it is confined.

An entry is a function that takes a `Context`. `script` is the one for programs, `compiled` the one
for what an earlier `script` compiled. `tool` and `binary` start what is not Python. Others are
named to the `Runner`, which has the zygotes import them: they run in the child, under every layer,
with what their module has imported. The child ends when the entry returns, with exit code 0.

The order matters to what can be believed. Until `Context.begin` the child runs nobody's code but
ours; `begin` closes the status socket, so what comes after cannot be mistaken for what went before.
"""

from __future__ import annotations

import atexit
import builtins
import errno
import json
import marshal
import os
import socket
import sys
import threading
import traceback
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn

from verifier_service.sandbox.gate import Gate

CONFINED, COMPILE_ERROR, BEGUN, BROKEN = b"S", b"C", b"R", b"E"
"""What is said on the status socket: layers in force, not Python, about to run, layers failed."""

PROGRAM_FILE = "main.py"
OUTPUT_FILE = "output"
"""What a tool writes, in the scratch directory."""

MAX_COMPILED_BYTES = 2**18
"""A larger program is not handed on compiled."""

PAYLOAD_FD = 4
_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C.UTF-8", "HOME": "/"}
NOT_STARTED = 126
"""Exit code of a process that could not become a program, as of shells."""


@dataclass
class Context:
    """What an entry is given.

    | attribute | what it is |
    |---|---|
    | `payload` | the bytes that the caller of the runner gave |
    | `channel` | in a pair, a stream socket to the other process; else None |
    | `result` | a descriptor; what is written to it becomes `Execution.result`; or None |
    | `gate` | in the profile `native`, the way to the one exec; else None |
    | `arguments` | of the program, after its name |
    """

    payload: bytes
    channel: socket.socket | None
    result: int | None
    _status: socket.socket
    gate: Gate | None = None
    arguments: tuple[str, ...] = ()

    def begin(self) -> None:
        """Say that what follows is not trusted. Call it before the first line of foreign code."""
        self._status.send(BEGUN)
        self._status.close()

    def execute(self, program: str | int, arguments: Sequence[str]) -> None:
        """Begin, and become a program. Raises OSError, before or instead of beginning."""
        assert self.gate is not None
        self._status.set_inheritable(False)  # the exec closes it
        self._status.send(BEGUN)
        self.gate.execute(program, arguments, _ENVIRONMENT)

    def fail(self, why: str) -> NoReturn:
        """End the process because of something that is nobody's fault but ours."""
        self._status.send(BROKEN + why.encode())
        os._exit(1)

    def end_with_compile_error(self) -> NoReturn:
        """End the process because the payload is not a program. Only possible before `begin`."""
        self._status.send(COMPILE_ERROR)
        os._exit(1)


Entry = Callable[[Context], None]


def script(context: Context) -> None:
    """Run the payload as Python would run a file: as the module `__main__`, to its exit code.

    The result, where one is wanted, is what `compiled` runs: no process needs to compile again.
    """
    code = compile_program(context, PROGRAM_FILE)
    if context.result is not None:
        compiled_code = marshal.dumps(code)
        with open(context.result, "wb") as file:
            file.write(compiled_code if len(compiled_code) <= MAX_COMPILED_BYTES else b"")
    _run_as_main(context, code)


def compiled(context: Context) -> None:
    """Run the result of `script` as `script` would run its payload."""
    _run_as_main(context, marshal.loads(context.payload))


def _run_as_main(context: Context, code: types.CodeType) -> NoReturn:
    sys.argv = [PROGRAM_FILE, *context.arguments]
    if (directory := os.getcwd()) != "/":  # as where a file is run: what is beside it
        sys.path.insert(0, directory)
    module = types.ModuleType("__main__")
    module.__dict__["__builtins__"] = builtins
    sys.modules["__main__"] = module
    if context.channel is not None:
        context.channel.detach()
    context.begin()
    _end(run_to_exit_code(lambda: exec(code, module.__dict__)))


def binary(context: Context) -> None:
    """Become the payload, a program of this machine that needs no libraries."""
    os.set_inheritable(PAYLOAD_FD, False)
    try:
        context.execute(PAYLOAD_FD, ["main", *context.arguments])
    except OSError as error:  # it is not a program of this machine, or larger than its memory
        os.write(2, f"cannot be started: {error.strerror}\n".encode())
        os._exit(NOT_STARTED)


def tool(context: Context) -> None:
    """Become a tool that makes a file of a file. See `tool_payload`."""
    header, _, content = context.payload.partition(b"\n")
    order = json.loads(header)
    with open(order["input"], "wb") as file:
        file.write(content)
    try:
        context.execute(order["arguments"][0], order["arguments"])
    except OSError as error:
        context.fail(f"{order['arguments'][0]}: {errno.errorcode.get(error.errno or 0)}")


def tool_payload(arguments: Sequence[str], input_name: str, content: bytes) -> bytes:
    """What the entry `tool` reads.

    Args:
        arguments: of the tool. The first is its absolute path. It should write `OUTPUT_FILE`.
        input_name: a file in the scratch directory, in which the tool is started.
        content: of this file.
    """
    return json.dumps({"arguments": arguments, "input": input_name}).encode() + b"\n" + content


def compile_program(context: Context, filename: str) -> types.CodeType:
    """The payload as code; ends the process where it is not Python. Only before `begin`."""
    try:
        return compile(context.payload, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
        traceback.print_exc(limit=0)
        sys.stderr.flush()
        context.end_with_compile_error()


def run_to_exit_code(work: Callable[[], object]) -> int:
    """Run something, and return the exit code that the interpreter would end with."""
    try:
        work()
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return (end.code or 0) & 0xFF
        print(end.code, file=sys.stderr)  # noqa: T201
        return 1
    except BaseException as error:  # noqa: BLE001  as the interpreter
        trace = _without_ours(error.__traceback__)
        sys.excepthook(type(error), error.with_traceback(trace), trace)
        return 1
    return 0


def _without_ours(trace: types.TracebackType | None) -> types.TracebackType | None:
    """The part of a trace that begins in the program."""
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return trace


def _end(code: int) -> NoReturn:
    """End as the interpreter does: wait for threads, run exit handlers, flush."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        code = code or 120  # as the interpreter
    sys.stderr.flush()
    os._exit(code)


ENTRIES: dict[str, Entry] = {
    "script": script,
    "compiled": compiled,
    "binary": binary,
    "tool": tool,
}
NATIVE = frozenset({"binary", "tool"})
"""The entries that need the profile `native`."""
