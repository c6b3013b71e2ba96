"""The corpus is complete and well formed. `test_attacks.py` runs it."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.attacks.corpus import (
    CATEGORIES,
    FUNCTION_TESTS,
    PLACEHOLDERS,
    PROGRAMS,
    SUCCESSES,
    Attack,
    Control,
    HeaderError,
    load,
    load_controls,
)

ATTACKS = load()
CONTROLS = load_controls()
attacks = pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
controls = pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)

HEADER = """\
# /// attack
# category = "secrets"
# kind = "stdio"
# success = "marker"
# expected = ["wrong_answer"]
# summary = "Prints a word."
# ///

print("blocked")
"""


def write(folder: Path, source: str) -> Path:
    path = folder / "secrets" / "example.py"
    path.parent.mkdir()
    path.write_text(source)
    return path


def test_there_are_enough_programs() -> None:
    assert len(ATTACKS) >= 120
    assert len(CONTROLS) >= 12


def test_every_file_is_loaded() -> None:
    files = {path.relative_to(PROGRAMS) for path in PROGRAMS.rglob("*.py")} - {Path("conftest.py")}
    assert files == {Path(attack.category) / f"{attack.name}.py" for attack in ATTACKS}


def test_names_are_unique() -> None:
    names = [attack.name for attack in ATTACKS] + [control.name for control in CONTROLS]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_every_category_has_several_programs() -> None:
    counts = Counter(attack.category for attack in ATTACKS)
    assert [category for category in CATEGORIES if counts[category] < 3] == []
    assert counts["reward-hack"] >= 35


def test_every_way_of_success_is_tried() -> None:
    tried = {attack.success.split(":/")[0].split(":{")[0] for attack in ATTACKS}
    assert tried == SUCCESSES | {"file"}


def test_every_impossible_problem_is_tried() -> None:
    assert {attack.test for attack in ATTACKS if attack.kind == "function"} == set(FUNCTION_TESTS)


@attacks
def test_an_attack_compiles(attack: Attack) -> None:
    if attack.compiles:
        compile(attack.source, attack.name, "exec")
    else:
        assert "compile_error" in attack.expected


def test_objects_of_the_service_that_attacks_change_exist() -> None:
    """A renamed object would let the program fail and attack nothing."""
    found = set()
    for attack in ATTACKS:
        lines = re.findall(r"^ *from (verifier_service[\w.]*) import (\w+)$", attack.source, re.M)
        found |= {(attack.name, module, name) for module, name in lines}
        for module, name in lines:
            target = importlib.import_module(f"{module}.{name}")
            for attribute in re.findall(rf"^ *{name}\.(\w+) = ", attack.source, re.M):
                assert hasattr(target, attribute), (attack.name, attribute)
    assert found


@attacks
def test_placeholders_are_known(attack: Attack) -> None:
    found = re.findall(r"\{[A-Z_]{3,}\}", attack.source)
    assert set(found) <= set(PLACEHOLDERS)


@attacks
def test_an_attack_can_be_seen_to_succeed(attack: Attack) -> None:
    body = attack.source.split("# ///\n", 2)[1]
    if attack.success == "marker":
        assert "PWNED" in body
    if attack.success == "benign_sees":
        assert "PERSISTED" in body
    if attack.success.startswith("net:"):
        wanted = {"tcp": "{TCP_PORT}", "udp": "{UDP_PORT}", "unix": "{UNIX_SOCKET}"}
        assert wanted[attack.success[4:]] in body
    if attack.kind == "function":
        assert "solve" in body


@controls
def test_a_control_prints_what_it_says_without_a_sandbox(control: Control, tmp_path: Path) -> None:
    for module in control.requires:
        pytest.importorskip(module)
    ended = subprocess.run(
        [sys.executable, "-I", "-c", control.source],
        cwd=tmp_path,
        input=control.stdin,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert (ended.returncode, ended.stdout) == (0, control.expected_stdout)


def test_a_header_is_read(tmp_path: Path) -> None:
    write(tmp_path, HEADER)
    assert load(tmp_path) == [
        Attack(
            name="example",
            category="secrets",
            kind="stdio",
            success="marker",
            expected=frozenset({"wrong_answer"}),
            summary="Prints a word.",
            source=HEADER,
            test="exact",
            compiles=True,
        )
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# /// attack", "", "expected a header from '# /// attack' to '# ///' at the top"),
        ('"stdio"', "stdio", "the header is not TOML"),
        ('"secrets"', '"tricks"', "category is 'tricks', expected one of secrets,"),
        ('"secrets"', '"ipc"', "category is 'ipc', but the file lies in 'secrets'"),
        ('# kind = "stdio"\n', "", "kind is missing"),
        ('"Prints a word."', "3", "summary is 3, expected a str"),
        ('"marker"', '"file:"', "success is 'file:', expected file:<glob> or one of"),
        ('"marker"', '"luck"', "success is 'luck', expected file:<glob> or one of"),
        ('["wrong_answer"]', '["passed"]', "expected holds passed, which is not a reason"),
        ('["wrong_answer"]', "[]", r"expected is \[\], expected a list of reasons"),
        ("# summary", "# weight = 1\n# summary", "the header has unknown fields: weight"),
        ("# summary", '# test = "unittest"\n# summary', "test is 'unittest', expected one of"),
    ],
)
def test_a_bad_header_names_its_file(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = write(tmp_path, HEADER.replace(old, new, 1))
    with pytest.raises(HeaderError, match=message) as raised:
        load(tmp_path)
    assert str(raised.value).startswith(f"{path}: ")
