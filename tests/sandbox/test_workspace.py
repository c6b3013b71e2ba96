"""Files and arguments that a program is given, and files that are fetched from it."""

from __future__ import annotations

import dataclasses

import pytest

from tests.sandbox.conftest import LIMITS, Sandbox
from verifier_service.compat.programs import check_files
from verifier_service.sandbox import pack
from verifier_service.sandbox.file_names import MAX_FETCHED_FILES

SCRATCH = dataclasses.replace(LIMITS, file_bytes=2**20)


def test_a_program_has_its_arguments_and_files(sandbox: Sandbox) -> None:
    execution = sandbox.run(
        "import sys, helper\nprint(sys.argv, open('data/deep/a').read(), helper.X)",
        limits=SCRATCH,
        arguments=("one", "two"),
        files={"data/deep/a": b"content", "helper.py": b"X = 3"},
    )
    assert execution.stdout == b"['main.py', 'one', 'two'] content 3\n", execution


def test_files_are_fetched_by_name(sandbox: Sandbox) -> None:
    source = "import os\nos.mkdir('d')\nopen('d/a', 'w').write('one')\nopen('b', 'w').write('two')"
    names = ("none", "d/a", "b", "d")
    execution = sandbox.run(source, limits=SCRATCH, fetched_files=names)
    assert execution.files == {"d/a": b"one", "b": b"two"}


def test_files_of_a_program_that_is_killed_are_fetched_too(sandbox: Sandbox) -> None:
    source = "import os\nopen('a', 'w').write('one')\nos.kill(os.getpid(), 9)"
    execution = sandbox.run(source, limits=SCRATCH, fetched_files=("a",))
    assert execution.files == {"a": b"one"}


def test_what_is_fetched_is_bounded_together(sandbox: Sandbox) -> None:
    source = (
        "import os\nwith open('a', 'w') as f: f.truncate(2**20)\n"
        "try: os.link('a', 'b')\nexcept OSError: open('b', 'w').write('x')"
    )
    execution = sandbox.run(source, limits=SCRATCH, fetched_files=("a", "b"))
    assert sum(map(len, execution.files.values())) <= SCRATCH.file_bytes


@pytest.mark.parametrize("leave", ["os.mkfifo('a')", "os.symlink('/etc/passwd', 'a')"])
def test_what_is_no_file_is_not_fetched(sandbox: Sandbox, leave: str) -> None:
    source = f"import os\ntry:\n    {leave}\nexcept OSError:\n    os.mkdir('a')"
    execution = sandbox.run(source, limits=SCRATCH, fetched_files=("a",))
    assert (execution.files, execution.exit_code) == ({}, 0)


def test_nothing_is_left_for_the_next(sandbox: Sandbox) -> None:
    sandbox.run("pass", limits=SCRATCH, files={"a": b"secret"})
    execution = sandbox.run("import os; print(os.listdir())", limits=SCRATCH, files={"b": b""})
    assert execution.stdout == b"['b']\n"


def test_files_that_exclude_each_other_end_the_program_and_nothing_else(sandbox: Sandbox) -> None:
    execution = sandbox.run("print(1)", limits=SCRATCH, files={"a": b"", "a/b": b""})
    assert (execution.exit_code, execution.stdout) == (126, b"")
    assert b"cannot write 'a/b'" in execution.stderr
    assert sandbox.run("print(1)").stdout == b"1\n"


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../a", "/a", "a/../../b", "a//", "a\0b", "a" * 201, "\ud800"]
)
def test_names_that_lead_elsewhere_are_refused(sandbox: Sandbox, name: str) -> None:
    with pytest.raises(ValueError, match="no name of a file"):
        sandbox.run("pass", limits=SCRATCH, files={name: b""})
    with pytest.raises(ValueError, match="no name of a file"):
        sandbox.run("pass", limits=SCRATCH, fetched_files=(name,))


def test_a_name_with_a_slash_at_its_end_is_that_of_a_directory(sandbox: Sandbox) -> None:
    with pytest.raises(ValueError, match="no name of a file"):
        sandbox.run("pass", limits=SCRATCH, files={"a/": b""})
    with pytest.raises(ValueError, match="no name of a file"):  # as clients name them
        check_files({}, ["a/"])
    source = """
import os
os.makedirs("a/b/c")
for name in ("a/1", "a/b/2", "a/b/c/3", "other"):
    with open(name, "w") as file:
        file.write(name * 3)
os.makedirs("a/" + "d/" * 300)
"""
    execution = sandbox.run(source, limits=SCRATCH, fetched_files=("a/", "other", "none/"))
    assert execution.files.keys() == {"a/", "other"}
    assert pack.unpack(execution.files["a/"]) == {
        name: f"a/{name}".encode() * 3 for name in ("1", "b/2", "b/c/3")
    }


def test_a_file_is_no_directory(sandbox: Sandbox) -> None:
    source = "open('a', 'w').write('x'); import os; os.mkdir('b')"
    execution = sandbox.run(source, limits=SCRATCH, fetched_files=("a/", "b"))
    assert execution.files == {}


def test_as_many_files_as_fit_into_a_message_can_be_fetched(sandbox: Sandbox) -> None:
    names = tuple("\x01" * 198 + f"{number:02}" for number in range(MAX_FETCHED_FILES))
    source = f"for name in {names!r}: open(name, 'w').write('x')"
    execution = sandbox.run(source, limits=SCRATCH, fetched_files=names)
    assert execution.files == dict.fromkeys(names, b"x")
    with pytest.raises(ValueError, match="at most 16"):
        sandbox.run("pass", limits=SCRATCH, fetched_files=(*names, "one more"))
