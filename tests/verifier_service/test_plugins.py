"""A verifier of another package, installed and used; and packages whose verifiers cannot be."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import ClassVar, Literal

import httpx
import pytest

import verifier_service.plugins
from trainer_client.service_process import running_service
from verifier_service.engine.request_limits import MAX_COMPLETION_CHARACTERS
from verifier_service.plugins import PluginError, plugins
from verifier_service.verifier import TextVerifier
from verifier_service.verifiers.format import Format

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugin"


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An interpreter that sees all that this one does, and the example package, installed."""
    folder = tmp_path_factory.mktemp("with_plugin")
    venv.create(folder / "venv", with_pip=False)
    (packages,) = (folder / "venv" / "lib").glob("python*/site-packages")
    (packages / "ours.pth").write_text("\n".join(path for path in sys.path if path))
    source = shutil.copytree(EXAMPLE, folder / "source")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    options = ["--no-index", "--no-deps", "--no-build-isolation", "--target", str(packages)]
    subprocess.run([*pip, *options, str(source)], check=True, capture_output=True)
    return folder / "venv" / "bin" / "python"


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plugin") / "service.log"


@pytest.fixture(scope="module")
def http_with_plugin(python: Path, log: Path) -> Iterator[httpx.Client]:
    with service_with_plugin(python, log) as client:
        yield client


@contextmanager
def service_with_plugin(python: Path, log: Path, *flags: str) -> Iterator[httpx.Client]:
    flags = ("--workers", "1", "--enabled", "format,contains_words", *flags)
    with (
        running_service(log, *flags, python=str(python)) as url,
        httpx.Client(base_url=url, timeout=600) as client,
    ):
        yield client


def post(http: httpx.Client, text: str, reference: object, **options: object) -> httpx.Response:
    verifiers = [{"type": "contains_words", "weight": 1.0, **options}]
    group = {"reference": reference, "completions": [text]}
    return http.post("/v1/score", json={"verifiers": verifiers, "groups": [group]})


WORDS = {"words": ["Paris", "Seine"]}


@pytest.mark.slow
def test_it_judges_with_its_options(http_with_plugin: httpx.Client) -> None:
    for options, expected in (({}, 1.0), ({"case_sensitive": True}, 0.5)):
        answer = post(http_with_plugin, "paris on the Seine", WORDS, **options)
        (found,) = answer.json()["groups"][0]["completions"]
        assert found["reward"] == expected


@pytest.mark.slow
def test_an_option_that_it_does_not_have_is_422(http_with_plugin: httpx.Client) -> None:
    answer = post(http_with_plugin, "x", WORDS, colour="red")
    assert answer.status_code == 422
    message = "verifiers.0.colour: no option of contains_words, which has "
    assert answer.json()["error"]["message"].startswith(message)


@pytest.mark.slow
def test_its_reference_is_missing_or_bad_as_for_any(http_with_plugin: httpx.Client) -> None:
    for reference, reason in (({}, "missing_reference"), ({"words": 7}, "bad_reference")):
        answer = post(http_with_plugin, "x", reference)
        (found,) = answer.json()["groups"][0]["completions"]
        assert found["verdicts"]["contains_words"]["outcome"] == "unverifiable"
        assert found["verdicts"]["contains_words"]["reason"] == reason


@pytest.mark.slow
def test_it_is_held_to_the_limits_of_an_item(python: Path, tmp_path: Path) -> None:
    """300,000 words to fold take several times the 30 ms that an item has here."""
    words = " ".join(f"\N{LATIN CAPITAL LETTER SHARP S}{n:x}" for n in range(340_000))
    with service_with_plugin(python, tmp_path / "log", "--item-cpu-seconds", "0.03") as client:
        answer = post(client, words[:MAX_COMPLETION_CHARACTERS], WORDS)
    (found,) = answer.json()["groups"][0]["completions"]
    assert found["verdicts"]["contains_words"]["reason"] == "too_slow"


@pytest.mark.slow
def test_it_is_described_beside_the_others(http_with_plugin: httpx.Client) -> None:
    listed = http_with_plugin.get("/v1/verifiers").json()["verifiers"]
    (described,) = [one for one in listed if one["type"] == "contains_words"]
    assert described["needs"] == ["words"]
    assert "case_sensitive" in described["options"]["properties"]
    assert "all_words" in {one["reason"] for one in described["reasons"]}
    assert "all_words" in http_with_plugin.get("/openapi.json").text


def listed(python: Path, setting: str) -> subprocess.CompletedProcess[str]:
    """`verifier-service verifiers` with a value of VERIFIER_PLUGINS."""
    command = [str(python), "-m", "verifier_service", "verifiers"]
    environment = {**os.environ, verifier_service.plugins.VARIABLE: setting}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "is_loaded"), [("Contains_Words, ", True), ("contains.words", True), ("", False)]
)
def test_only_packages_that_are_named_are_loaded(
    python: Path, setting: str, is_loaded: bool
) -> None:
    found = listed(python, setting)
    assert found.returncode == 0, found.stderr
    assert ("contains_words" in found.stdout) == is_loaded
    assert "accuracy" in found.stdout


@pytest.mark.slow
def test_a_named_package_that_has_no_verifiers_is_an_error(python: Path) -> None:
    found = listed(python, "contains-words,httpx")
    assert found.returncode != 0
    expected = "httpx is no installed package with verifiers; there are: contains-words"
    assert found.stderr.strip() == f"VERIFIER_PLUGINS: {expected}"


@pytest.mark.slow
def test_the_start_says_where_verifiers_come_from(
    http_with_plugin: httpx.Client, log: Path
) -> None:
    assert http_with_plugin.get("/readyz").status_code == 200
    assert "verifier contains_words comes from the package contains-words" in log.read_text()


class WrongName(TextVerifier):
    """A verifier whose type is not the name of its entry point."""

    type: Literal["other"] = "other"
    purpose: ClassVar[str] = "nothing"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("mine", "no_such_module:Mine", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("mine", "json:dumps", "expected a subclass of TextVerifier or GroupVerifier"),
        ("mine", f"{__name__}:WrongName", 'expected `type: Literal["mine"]`'),
        ("format", "verifier_service.verifiers.format:Format", "there is another verifier"),
    ],
)
def test_a_plugin_that_cannot_be_used_is_named(
    name: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint(name, value, verifier_service.plugins.GROUP)
    monkeypatch.setattr(verifier_service.plugins, "entry_points", lambda group: [entry])
    with pytest.raises(PluginError, match=f"^verifier '{name}' of a package") as raised:
        plugins({"format": Format})
    assert message in str(raised.value)
