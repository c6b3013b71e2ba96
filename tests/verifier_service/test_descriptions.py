"""The service's descriptions of itself."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

import verifier_service
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.puzzles.checkers import CHECKERS
from verifier_service.reason import EngineReason
from verifier_service.verifiers import VERIFIERS


def test_every_verifier_is_described(http: httpx.Client) -> None:
    listed = {v["type"]: v for v in http.get("/v1/verifiers").json()["verifiers"]}
    assert list(listed) == list(VERIFIERS)
    for name, description in listed.items():
        assert description["purpose"]
        assert description["score_range"] == list(VERIFIERS[name].score_range)
        assert description["options"]["properties"]["type"]["const"] == name
        reasons = {reason["reason"] for reason in description["reasons"]}
        assert reasons == {*VERIFIERS[name].reasons, *EngineReason}
        assert all(reason["meaning"] for reason in description["reasons"])
    assert listed["accuracy"]["needs"] == ["answer"]


@pytest.mark.parametrize(
    ("path", "said"), [("/healthz", {}), ("/readyz", {"version": verifier_service.__version__})]
)
def test_a_running_service_is_alive_and_ready(
    http: httpx.Client, path: str, said: dict[str, str]
) -> None:
    response = http.get(path)
    found = response.json()
    found.pop("missing", None)  # proof checkers, which a machine may lack
    if path == "/readyz":
        assert found.pop("workers").keys() == {"text", "code"}
    assert (response.status_code, found) == (200, {"status": "ok", **said})


def test_the_readme_names_every_verifier_and_counts_languages_and_puzzles() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    assert [name for name in VERIFIERS if f"`{name}`" not in readme] == []
    named, others = re.search(r"\(([^()]+) and (\d+) more\)", readme).groups()  # type: ignore[union-attr]
    assert len(named.split(", ")) + int(others) == len(LANGUAGES)
    assert f"; {len(CHECKERS)} kinds of puzzles;" in readme


def test_monitors_may_ask_by_head(http: httpx.Client) -> None:
    """It is the default of some; a 405 would look like a service that is down."""
    for path in ("/healthz", "/readyz"):
        response = http.head(path)
        assert (response.status_code, response.content) == (200, b"")


def test_the_documentation_has_the_wire(http: httpx.Client) -> None:
    assert http.get("/docs").status_code == 200
    document = http.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    assert {"ScoreRequest", "Group", "Accuracy", "ScoreResponse", "VerdictResponse"} <= set(schemas)
    assert (
        schemas["ScoreRequest"]["properties"]["verifiers"]["items"]["discriminator"]["propertyName"]
        == "type"
    )
