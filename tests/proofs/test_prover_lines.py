"""`verifier-service doctor` tells which proof checkers can be used, and what the others lack."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.lean_server import Lean, LeanMode, serving_lean

_PRINT = """
import asyncio, sys
from verifier_service.code.toolchains import installed_programs
from verifier_service.proofs.prover_lines import prover_lines
installed_programs.SEARCH_PATH = sys.argv[1]
print(*asyncio.run(prover_lines()), sep="\\n")
"""


def lines(programs: Path, **environment: str) -> dict[str, str]:
    """The line on each checker, by a process that looks for Coq in a folder."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("VERIFIER_")}
    found = subprocess.run(
        [sys.executable, "-c", _PRINT, str(programs)],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    head, *others = found.stdout.splitlines()
    assert head == "proof checkers:"
    return dict((line.split(maxsplit=1)) for line in others)


def test_a_missing_coq_and_a_missing_lean_server_are_told(tmp_path: Path) -> None:
    found = lines(tmp_path)
    assert found["coq"].startswith("- ")
    assert "coqc" in found["coq"]
    assert "VERIFIER_LEAN_URL" in found["lean"]


@pytest.mark.slow
def test_a_lean_server_that_answers_works(tmp_path: Path) -> None:
    with serving_lean(Lean()) as url:
        assert lines(tmp_path, VERIFIER_LEAN_URL=url)["lean"] == "works"


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "reason"), [("fails", "unavailable"), ("refuses", "refused")])
def test_a_lean_server_that_checks_nothing_is_told(
    tmp_path: Path, mode: LeanMode, reason: str
) -> None:
    with serving_lean(Lean(mode)) as url, serving_lean(Lean()) as works:
        found = lines(tmp_path, VERIFIER_LEAN_URL=f"{works},{url}")["lean"]
    told = f"- VERIFIER_LEAN_URL: {url} checks no proof (server_{reason}): "
    assert found == f"{told}start it, or correct the URL"


def test_a_lean_url_that_does_not_answer_is_told(tmp_path: Path) -> None:
    found = lines(tmp_path, VERIFIER_LEAN_URL="http://127.0.0.1:9")["lean"]
    assert found.startswith("- VERIFIER_LEAN_URL: http://127.0.0.1:9 checks no proof")


@pytest.mark.slow
def test_a_wrong_lean_url_is_told_with_its_own_settings(tmp_path: Path) -> None:
    found = lines(tmp_path, VERIFIER_LEAN_URL="http://user:secret@lean:8000")["lean"]
    assert "the key is VERIFIER_LEAN_KEY" in found
    assert "secret" not in found
    wrong = lines(tmp_path, VERIFIER_LEAN_URL="lean:8000")["lean"]
    assert "expected http://HOST:PORT or https://HOST, found 'lean:8000'" in wrong
