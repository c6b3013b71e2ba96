"""Each layer by itself: the operations that it alone refuses, and that succeed without it.

The programs here do nothing that harms where it is possible.
"""

from __future__ import annotations

import asyncio
import dataclasses
import os
import sysconfig
import threading
from pathlib import Path

import pytest

from tests.sandbox.conftest import LIMITS
from verifier_service.sandbox import runtime
from verifier_service.sandbox.execution import Execution, Layer, Limits, Program
from verifier_service.sandbox.layers import num_threads_of_user
from verifier_service.sandbox.runner import Runner
from verifier_service.sandbox.users import FIRST_USER

EVERY = frozenset(Layer)
as_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can change users")


def run(source: str, *layers: Layer, limits: Limits = LIMITS) -> Execution:
    """Run a program under these layers alone."""

    async def run_once() -> Execution:
        async with Runner(1, unsafe_without=EVERY - set(layers)) as runner:
            assert runner.layers == set(layers)
            return await runner.run(Program(payload=source.encode()), limits)

    return asyncio.run(run_once())


def outcome(source: str, *layers: Layer) -> str:
    """`done`, or the name of the error that an operation ends with."""
    program = f"""
import ctypes, errno, os, socket
libc = ctypes.CDLL(None, use_errno=True)
try:
    {source}
    print("done")
except OSError as error:
    print(errno.errorcode.get(error.errno, error))
"""
    execution = run(program, *layers)
    assert execution.succeeded, execution
    return execution.stdout.decode().strip()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RLIMIT_CORE", "(0, 0)"),
        ("RLIMIT_CPU", "(31, 31)"),
        ("RLIMIT_FSIZE", "(0, 0)"),
        ("RLIMIT_NOFILE", "(64, 64)"),
        ("RLIMIT_MEMLOCK", "(0, 0)"),
        ("RLIMIT_MSGQUEUE", "(0, 0)"),
    ],
)
def test_rlimits_are_set_hard_and_soft(name: str, value: str) -> None:
    source = f"import resource; print(resource.getrlimit(resource.{name}))"
    assert run(source, Layer.RLIMITS).stdout.decode().strip() == value
    assert run(source).stdout.decode().strip() != value


def test_rlimits_limit_memory() -> None:
    source = "import mmap; mmap.mmap(-1, 2**30); print('done')"
    limits = dataclasses.replace(LIMITS, memory_bytes=2**28)
    assert run(source, Layer.RLIMITS, limits=limits).stdout == b""
    assert run(source, limits=limits).stdout == b"done\n"


@as_root
def test_capabilities_are_dropped() -> None:
    source = """
lines = open("/proc/self/status").read().splitlines()
print([line.split()[1] for line in lines if line[:6] in ("CapEff", "CapPrm", "CapInh")])
"""
    none = b"['0000000000000000', '0000000000000000', '0000000000000000']\n"
    assert run(source, Layer.CAPABILITIES).stdout == none
    assert run(source).stdout != none


def test_no_capability_can_come_back() -> None:
    source = """
lines = open("/proc/self/status").read().splitlines()
print([line.split()[1] for line in lines if line[:6] in ("CapBnd", "CapAmb")])
"""
    if os.getuid() == 0:
        assert run(source).stdout == b"['0000000000000000', '0000000000000000']\n"


def test_no_new_privs_is_set() -> None:
    source = "import ctypes; print(ctypes.CDLL(None).prctl(39, 0, 0, 0, 0))"
    assert run(source, Layer.NO_NEW_PRIVS).stdout == b"1\n"
    assert run(source).stdout == b"0\n"


@pytest.mark.parametrize(
    "operation",
    [
        "open('/etc/hostname').close()",
        "open('/proc/self/environ').close()",
        "os.listdir('/')",
        "os.close(os.open('/tmp', os.O_TMPFILE | os.O_RDWR))",
    ],
)
def test_landlock_closes_the_file_system(operation: str) -> None:
    assert outcome(operation, Layer.NO_NEW_PRIVS, Layer.LANDLOCK) == "EACCES"
    assert outcome(operation) in ("done", "ENOENT", "EACCES")
    assert outcome("os.listdir('/')") == "done"


def test_landlock_refuses_tcp() -> None:
    # Nothing listens on port 9 of this machine; refused there means that the packet was sent.
    operation = "socket.create_connection(('127.0.0.1', 9), 1)"
    assert outcome(operation, Layer.NO_NEW_PRIVS, Layer.LANDLOCK) == "EACCES"
    assert outcome(operation) == "ECONNREFUSED"


def test_landlock_refuses_signals_to_the_outside() -> None:
    operation = "os.kill(os.getppid(), 0)"
    assert outcome(operation, Layer.NO_NEW_PRIVS, Layer.LANDLOCK) == "EPERM"
    assert outcome(operation) == "done"


def test_landlock_leaves_the_library_and_not_what_is_installed_in_it() -> None:
    libraries = "import colorsys, csv, sqlite3, zoneinfo; zoneinfo.ZoneInfo('UTC'); print('done')"
    assert run(libraries, Layer.NO_NEW_PRIVS, Layer.LANDLOCK).stdout == b"done\n"


@pytest.mark.parametrize(
    "operation",
    [
        "os.fork() or os._exit(0)",
        "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
        "os.memfd_create('x')",
        "os.kill(os.getppid(), 0)",
        "os.setpriority(os.PRIO_PROCESS, 0, 19)",
    ],
)
def test_seccomp_refuses_calls(operation: str) -> None:
    assert outcome(operation, Layer.NO_NEW_PRIVS, Layer.SECCOMP) == "EPERM"
    assert outcome(operation) == "done"


@pytest.mark.parametrize(
    ("operation", "error"),
    [
        ("os.readlink('/proc/self/exe')", "EINVAL"),
        ("os.readlink('/proc/self/fd/1')", "EINVAL"),
        ("socket.socketpair()[0].getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)", "EPERM"),
        ("socket.socketpair()[0].getsockopt(socket.SOL_SOCKET, 77, 4)", "EPERM"),
    ],
)
def test_seccomp_hides_what_names_files_and_processes(operation: str, error: str) -> None:
    assert outcome(operation, Layer.NO_NEW_PRIVS, Layer.SECCOMP) == error
    assert outcome(operation) == "done"


def test_seccomp_has_the_c_library_do_without_clone3() -> None:
    source = "import threading; threading.Thread(target=print, args=['done']).start()"
    assert run(source, Layer.NO_NEW_PRIVS, Layer.SECCOMP).stdout == b"done\n"


def test_processes_that_end_while_they_are_counted_do_not_matter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "listdir", lambda _: ["self", "999999999", str(os.getpid())])
    assert num_threads_of_user() >= threading.active_count()


@as_root
def test_each_slot_has_a_user_of_its_own() -> None:
    source = b"import os; print(*{*os.getresuid(), *os.getresgid()}, *os.getgroups())"

    async def users() -> set[int]:
        without = EVERY - {Layer.USER, Layer.NAMESPACES, Layer.ROOT}
        async with (
            Runner(2, unsafe_without=without) as runner,
            Runner(1, unsafe_without=without) as other,
        ):
            runs = [it.run(Program(payload=source), LIMITS) for it in (runner, runner, other)]
            return {int(execution.stdout) for execution in await asyncio.gather(*runs)}

    found = asyncio.run(users())
    assert len(found) == 3
    assert min(found) >= FIRST_USER
    assert run("import os; print(os.getuid())").stdout == b"0\n"


@as_root
def test_a_program_does_not_take_the_threads_of_another_sandbox() -> None:
    start = "import threading\nend = threading.Event()\nthreads = []\nthreading.stack_size(2**16)\n"
    start += "def more():\n    threads.append(threading.Thread(target=end.wait, daemon=True))\n"
    start += "    threads[-1].start()\n"
    hog = f"{start}try:\n    while True:\n        more()\nexcept RuntimeError:\n    end.wait()\n"
    honest = f"{start}for _ in range(50):\n    more()\nprint('done')\n"

    async def beside_each_other() -> Execution:
        async with Runner(1) as runner, Runner(1) as other:
            greedy = asyncio.create_task(runner.run(Program(payload=hog.encode()), LIMITS))
            found = [await other.run(Program(payload=honest.encode()), LIMITS) for _ in range(20)]
            assert not greedy.done()
            greedy.cancel()
            await asyncio.gather(greedy, return_exceptions=True)
            return found[-1]

    assert asyncio.run(beside_each_other()).stdout == b"done\n"


@pytest.mark.parametrize("kind", ["pid", "net", "ipc", "uts", "mnt", "cgroup"])
def test_namespaces_are_others_than_ours(kind: str) -> None:
    # The process file system is that of the outside, where the zygote is another process.
    ours = os.readlink(f"/proc/self/ns/{kind}")
    source = f"import os; print(os.readlink('/proc/self/ns/{kind}'))"
    if os.getuid() != 0:
        pytest.skip("a process that hides cannot read its own links")
    assert run(source, Layer.NAMESPACES).stdout.decode().strip() != ours
    assert run(source).stdout.decode().strip() == ours


def test_a_namespace_has_no_other_processes_and_no_network() -> None:
    source = """
import os, socket
print(os.getppid(), [name for _, name in socket.if_nameindex()])
"""
    assert run(source, Layer.NAMESPACES).stdout == b"1 ['lo']\n"
    assert not run(source).stdout.startswith(b"1 ")


def test_a_private_root_holds_the_runtime_and_nothing_else() -> None:
    here = str(Path(__file__))
    source = f"""
import os
print([os.path.lexists(path) for path in ("/proc", "/sys", "/tmp", "/etc/passwd", {here!r})])
print(os.path.exists(os.__file__))
for path in ("/new", os.__file__):
    try:
        open(path, "a")
    except OSError as error:
        print(error.strerror)
"""
    in_root = run(source, Layer.NAMESPACES, Layer.ROOT).stdout.decode().splitlines()
    assert in_root[:2] == ["[False, False, False, False, False]", "True"]
    library = "Read-only file system" if os.getuid() == 0 else "Permission denied"
    assert in_root[2:] == ["Read-only file system", library]
    assert "[True, True, True, True, True]" in run(source.replace('"a"', '"r"')).stdout.decode()


def test_the_libraries_of_a_moved_python_stand_beside_its_standard_library(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Its LIBDIR names a folder that is not there, or that nobody but root can read."""
    library = tmp_path / "lib" / "libpython3.so"
    (tmp_path / "lib" / "python3").mkdir(parents=True)
    library.touch()
    found = {
        "stdlib": str(tmp_path / "lib" / "python3"),
        "platstdlib": str(tmp_path / "lib/python3"),
    }
    monkeypatch.setattr(sysconfig, "get_path", found.__getitem__)
    assert library in runtime.system_files()
