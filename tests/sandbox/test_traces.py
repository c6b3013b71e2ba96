"""The traces of an execution that a later one could read: none that the first can choose."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sandbox.conftest import LIMITS, Sandbox
from verifier_service.sandbox.execution import Layer, Program
from verifier_service.sandbox.runner import Runner

PAGE_BYTES = 4096
LIBRARY = Path(os.__file__).parent / "pydoc_data" / "topics.py"
"""A file of the standard library that every execution can read and nothing imports."""

CHANGE_THE_PAGE_CACHE = """
import ctypes, itertools, mmap, os, platform
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
LIBRARY = "{library}"
SIZE = os.stat(LIBRARY).st_size
NUMBERS = {{  # x86-64, aarch64
    "fadvise64": (221, 223), "sync_file_range": (277, 84), "readahead": (187, 213),
    "remap_file_pages": (216, 234), "sendfile": (40, 71), "splice": (275, 76),
    "mlock": (149, 228), "mincore": (27, 232), "cachestat": (451, 451), "preadv2": (327, 286),
}}
column = ("x86_64", "aarch64").index(platform.machine())
file = os.open(LIBRARY, os.O_RDONLY)

def call(name, *arguments):
    values = [ctypes.c_long(it) if isinstance(it, int) else it for it in arguments]
    return libc.syscall(ctypes.c_long(NUMBERS[name][column]), *values)

def attempt(operation, *arguments):
    try:
        operation(*arguments)
    except (OSError, ValueError):
        pass

buffer = ctypes.create_string_buffer(4096)
for advice, flag in itertools.product(range(128), (mmap.MAP_PRIVATE, mmap.MAP_SHARED)):
    with mmap.mmap(file, SIZE, flags=flag, prot=mmap.PROT_READ) as mapping:
        attempt(mapping.madvise, advice)
for number in range(8):
    with mmap.mmap(file, SIZE, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ) as mapping:
        address = libc.mmap(None, ctypes.c_size_t(SIZE), 1, 1, file, ctypes.c_long(0))
        libc.msync(ctypes.c_void_p(address), ctypes.c_size_t(SIZE), number)
        call("remap_file_pages", address, SIZE, 0, number, 0)
        call("mlock", address, SIZE)
        libc.munmap(ctypes.c_void_p(address), ctypes.c_size_t(SIZE))
for number in range(8):
    call("sync_file_range", file, 0, SIZE, number)
    call("preadv2", file, None, 0, 0, 0, 1 << number)
call("readahead", file, 0, SIZE)
reading, writing = os.pipe()
call("sendfile", writing, file, None, 4096)
call("splice", file, None, writing, None, 4096, 0)
for flags in (os.O_DIRECT, os.O_DIRECT | os.O_SYNC, os.O_NOATIME):
    attempt(lambda: os.read(os.open(LIBRARY, os.O_RDONLY | flags), 4096))
for advice in range(16):  # the last, because pages that are mapped cannot be evicted so
    call("fadvise64", file, 0, 0, advice)
print("tried")
"""


def num_pages() -> int:
    return (LIBRARY.stat().st_size + PAGE_BYTES - 1) // PAGE_BYTES


def num_pages_in_memory() -> int:
    """Pages of the library that can be read without the disk."""
    number = 0
    file = os.open(LIBRARY, os.O_RDONLY)
    try:
        for page in range(num_pages()):
            try:
                os.preadv(file, [bytearray(1)], page * PAGE_BYTES, os.RWF_NOWAIT)
                number += 1
            except BlockingIOError:
                pass
    finally:
        os.close(file)
    return number


@pytest.fixture
def pages_can_be_seen_to_go() -> Iterator[None]:
    """Skips where the file system does not tell which pages are in memory, or keeps them all.

    Holds a lock meanwhile: the same test may run beside this one as another user.
    """
    file = os.open(LIBRARY, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        LIBRARY.read_bytes()
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        if num_pages_in_memory() == num_pages():
            pytest.skip("this file system keeps its pages in memory")
        yield
    except OSError as error:
        pytest.skip(f"this file system does not tell which pages are in memory: {error}")
    finally:
        os.close(file)


def change_the_page_cache(*without: Layer) -> tuple[bytes, int]:
    """Output of the program that tries to, and the pages of the library that are left."""
    source = CHANGE_THE_PAGE_CACHE.format(library=LIBRARY).encode()

    async def run_once() -> bytes:
        async with Runner(1, unsafe_without=frozenset(without)) as runner:
            LIBRARY.read_bytes()
            return (await runner.run(Program(payload=source), LIMITS)).stdout

    return asyncio.run(run_once()), num_pages_in_memory()


@pytest.mark.usefixtures("pages_can_be_seen_to_go")
def test_no_call_removes_pages_of_a_library_from_memory() -> None:
    # Pages stay that another program has mapped meanwhile, but not each time.
    left_without = (change_the_page_cache(Layer.SECCOMP)[1] for _ in range(5))
    assert any(left < num_pages() for left in left_without)
    # The kernel itself may take pages while other programs fill the memory, but not each time.
    attempts = [change_the_page_cache() for _ in range(2)]
    assert {printed for printed, _ in attempts} == {b"tried\n"}
    assert max(left for _, left in attempts) == num_pages()


def test_process_numbers_tell_nothing_of_earlier_executions(sandbox: Sandbox) -> None:
    if Layer.NAMESPACES not in sandbox.runner.layers:
        pytest.skip("numbers are those of the whole machine")
    count = "import os, threading\nnumbers = [os.getpid()]\n"
    count += "for _ in range({}):\n"
    count += (
        "    thread = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))\n"
    )
    count += "    thread.start(); thread.join()\n"
    count += "print(numbers)"
    outputs = [sandbox.run(count.format(number)).stdout for number in (0, 40, 0, 3)]
    assert outputs[0] == outputs[2]
    assert outputs[1].startswith(outputs[3][:-2])
