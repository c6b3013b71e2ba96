"""`proof` in a running service: over HTTP, in all that the service says of itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.lean_server import Lean, serving_lean
from trainer_client.service_process import running_service
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.proofs.coq_toolchain import coq_toolchain

COQ = {"statement": "Theorem goal : forall n : nat, n + 0 = n."}
LEAN = {"statement": "theorem goal : 1 + 1 = 2 := by sorry", "preamble": "import Mathlib"}
RIGHT = "```coq\nProof. induction n; simpl; congruence. Qed.\n```"


@pytest.fixture(scope="module")
def lean() -> Iterator[tuple[Lean, str]]:
    server = Lean()
    with serving_lean(server) as url:
        yield server, url


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, lean: tuple[Lean, str]) -> Iterator[str]:
    settings = {"enabled": "proof,accuracy", "code-workers": "1", "workers": "1"}
    flags = [f"--{name}={value}" for name, value in settings.items()]
    with contextlib.ExitStack() as stack:
        log = tmp_path_factory.mktemp("service") / "log"
        yield stack.enter_context(running_service(log, *flags, f"--lean-url={lean[1]}"))


def verdicts(
    service: str, reference: dict[str, Any], *completions: str, **options: Any
) -> list[dict[str, Any]]:
    request = {
        "verifiers": [{"type": "proof", **options}],
        "groups": [{"reference": reference, "completions": list(completions)}],
        "deadline_seconds": 300,
    }
    response = httpx.post(f"{service}/v1/score", json=request, timeout=400)
    assert response.status_code == 200, response.text
    (group,) = response.json()["groups"]
    return [one["verdicts"]["proof"] for one in group["completions"]]


def needs_coq() -> None:
    try:
        coq_toolchain()
    except ToolchainError as error:
        pytest.skip(str(error))


@pytest.mark.slow
def test_a_group_of_proofs_in_coq_is_judged(service: str) -> None:
    needs_coq()
    wrong = "```coq\nreflexivity.\n```"
    found = verdicts(service, COQ, RIGHT, wrong, "It is clear.", "```coq\nAdmitted.\n```")
    assert [(one["score"], one["reason"]) for one in found] == [
        (1.0, "proved"),
        (0.0, "rejected"),
        (0.0, "no_proof"),
        (0.0, "incomplete"),
    ]
    assert found[0]["extracted"] == "Proof. induction n; simpl; congruence. Qed.\n"
    assert found[0]["details"]["by"].startswith("coq ")


@pytest.mark.slow
def test_a_bad_statement_is_the_references_fault(service: str) -> None:
    needs_coq()
    (found,) = verdicts(service, {"statement": "Theorem goal : n = n."}, RIGHT)
    assert (found["outcome"], found["reason"]) == ("unverifiable", "bad_reference")
    assert found["details"]["message"].startswith("reference.statement: Coq does not take it: ")


@pytest.mark.slow
def test_a_group_of_proofs_in_lean_is_judged_by_the_server(service: str) -> None:
    texts = [f"```lean\n{text}\n```" for text in ("rfl", "loop", "sorry", "omega")]
    found = verdicts(service, LEAN, *texts, language="lean")
    assert [(one["score"], one["reason"]) for one in found] == [
        (1.0, "proved"),
        (0.0, "time_limit_exceeded"),
        (0.0, "incomplete"),
        (0.0, "rejected"),
    ]


@pytest.mark.slow
def test_a_lean_server_that_fails_gives_failed_verdicts(
    service: str, lean: tuple[Lean, str]
) -> None:
    lean[0].mode = "fails"
    try:
        (found,) = verdicts(service, LEAN, "```lean\n  rfl\n```", language="lean")
    finally:
        lean[0].mode = "works"
    assert (found["outcome"], found["score"], found["reason"]) == (
        "failed",
        None,
        "server_unavailable",
    )


@pytest.mark.slow
def test_an_explanation_has_the_place_of_the_proof(service: str) -> None:
    text = "So:\n```lean\nrfl\n```"
    request = {
        "verifiers": [{"type": "proof", "language": "lean"}],
        "groups": [{"reference": LEAN, "completions": [text]}],
        "explain": True,
    }
    response = httpx.post(f"{service}/v1/score", json=request, timeout=400).json()
    explanation = response["groups"][0]["completions"][0]["verdicts"]["proof"]["explanation"]
    assert (explanation["stage"], explanation["spans"]) == ("proof", [{"start": 12, "end": 16}])


@pytest.mark.slow
def test_the_service_tells_which_checkers_it_has(service: str) -> None:
    provers = httpx.get(f"{service}/v1/verifiers", timeout=60).json()["provers"]
    by_language = {one["language"]: one["available"] for one in provers}
    assert by_language["lean"]
    missing = httpx.get(f"{service}/readyz", timeout=60).json()["missing"]
    assert len(missing) == sum(not is_there for is_there in by_language.values())


@pytest.mark.slow
def test_a_service_without_a_lean_server_says_so(service_url: str) -> None:
    missing = httpx.get(f"{service_url}/readyz", timeout=60).json()["missing"]
    (found,) = verdicts(service_url, LEAN, "```lean\nrfl\n```", language="lean")
    assert any("VERIFIER_LEAN_URL" in one for one in missing)
    assert (found["outcome"], found["reason"]) == ("unverifiable", "missing_toolchain")
    assert "VERIFIER_LEAN_URL" in found["details"]["message"]
