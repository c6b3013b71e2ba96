"""Files in memory: who shares them, and for how long they are kept."""

from __future__ import annotations

import os

import pytest

from verifier_service.sandbox.memory_files import MAX_KEPT_BYTES, ExecutableFiles, sealed


def inode(files: ExecutableFiles, content: bytes) -> int:
    descriptor = files.descriptor(content)
    try:
        status = os.fstat(descriptor)
        assert status.st_size == len(content)
        return status.st_ino
    finally:
        os.close(descriptor)


def test_a_program_has_one_file_until_others_were_run_since() -> None:
    files = ExecutableFiles(num_kept=2)
    first = inode(files, b"first")
    second = inode(files, b"second")
    assert inode(files, b"first") == first
    inode(files, b"third")  # the second was not used for longest
    assert inode(files, b"first") == first
    assert inode(files, b"second") != second
    files.close()
    assert inode(files, b"first") != first


def test_a_large_program_is_not_kept() -> None:
    files = ExecutableFiles(num_kept=2)
    large = bytes(MAX_KEPT_BYTES + 1)
    assert inode(files, large) != inode(files, large)


def test_a_file_cannot_be_changed_and_a_program_not_be_read() -> None:
    descriptor = sealed(b"content", executable=True)
    assert os.fstat(descriptor).st_mode & 0o777 == 0o111
    for change in (
        lambda: os.pwrite(descriptor, b"C", 0),
        lambda: os.truncate(descriptor, 1),
        lambda: os.truncate(descriptor, 9),
    ):
        with pytest.raises(PermissionError):
            change()
    os.close(descriptor)
