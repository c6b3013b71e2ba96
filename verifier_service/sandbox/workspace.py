"""The files of an execution: written into its scratch directory before, fetched from it after."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from verifier_service.sandbox import pack
from verifier_service.sandbox.entries import NOT_STARTED

_COPY_BYTES = 2**16


def pack_workspace(arguments: Sequence[str], files: Mapping[str, bytes]) -> bytes:
    """Arguments and files of a program as bytes."""
    return pack.pack(files, arguments=list(arguments))


def unpack_workspace(workspace: int) -> tuple[str, ...]:
    """Write the files of a workspace, see `pack_workspace`.

    Ends the process if a file cannot be written: the files are too many, or their names exclude
    each other. That is the fault of the caller who gave them.

    Returns:
        The arguments of the program.
    """
    with open(workspace, "rb") as packed:
        header = json.loads(packed.readline())
        for name, size in header["files"]:
            try:
                if "/" in name:
                    os.makedirs(os.path.dirname(name), exist_ok=True)
                with open(name, "wb") as file:
                    while size > 0 and (part := packed.read(min(size, _COPY_BYTES))):
                        size -= file.write(part)
            except OSError as error:
                os.write(2, f"cannot write {name!r}: {error.strerror}\n".encode())
                os._exit(NOT_STARTED)
    return tuple(header["arguments"])


def open_files(scratch: Path, names: Sequence[str]) -> dict[int, int]:
    """The descriptors of files that a program left, by their index in the names.

    Only a regular file in a directory of the program's own is returned. The program may have made
    links, pipes and devices with these names. A name that ends with a slash is that of a directory,
    whose regular files are packed.
    """
    found = {}
    for index, name in enumerate(names):
        with contextlib.suppress(OSError):
            if name.endswith("/"):
                found[index] = _packed_directory(scratch, name.removesuffix("/"))
                continue
            file = _open_below(scratch, name)
            if stat.S_ISREG(os.fstat(file).st_mode):
                found[index] = file
            else:
                os.close(file)
    return found


def _packed_directory(scratch: Path, directory: str) -> int:
    """A file in memory with the regular files below a directory, packed. Raises OSError."""
    sizes, names = [], []
    pending = [directory]
    while pending:
        for item in os.scandir(scratch / (parent := pending.pop())):
            if item.is_dir(follow_symlinks=False):
                pending.append(f"{parent}/{item.name}")
            elif item.is_file(follow_symlinks=False) and item.name.isprintable():
                names.append(f"{parent}/{item.name}")
                sizes.append((names[-1].removeprefix(f"{directory}/"), item.stat().st_size))
    with open(os.memfd_create("packed"), "wb", closefd=False) as packed:
        packed.write(pack.header(sizes))
        for name in names:
            with open(_open_below(scratch, name), "rb") as file:
                shutil.copyfileobj(file, packed)
        descriptor = packed.fileno()
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor


def _open_below(scratch: Path, name: str) -> int:
    """Open a file, one directory after the other and without following links. Raises OSError."""
    *directories, last = PurePosixPath(name).parts
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    parent = os.open(scratch, flags | os.O_DIRECTORY)
    try:
        for directory in directories:
            child = os.open(directory, flags | os.O_DIRECTORY, dir_fd=parent)
            os.close(parent)
            parent = child
        return os.open(last, flags, dir_fd=parent)
    finally:
        os.close(parent)
