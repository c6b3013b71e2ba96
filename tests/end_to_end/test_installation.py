"""Packages that each extra brings, and those that it must not bring."""

from __future__ import annotations

import runpy
import subprocess
import sys
import tomllib
import venv
from importlib.metadata import PackageNotFoundError, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from trainer_client.service_process import running_service

ROOT = Path(__file__).parents[2]
INSTALL = ROOT / "scripts" / "install"
DISTRIBUTION = "reward-verifier"


def project() -> dict[str, Any]:
    """The table `project` of pyproject.toml, which installed metadata may be older than."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return table


def brought_by(extra: str, *, without: frozenset[str] = frozenset()) -> set[str]:
    """Names of every distribution that an extra needs, needs of needs included.

    Args:
        extra: of this project.
        without: distributions whose own needs are not followed.
    """
    return needs_of(DISTRIBUTION, extras=frozenset({extra}), without=without)


def needs_of(
    distribution: str,
    *,
    extras: frozenset[str] = frozenset(),
    without: frozenset[str] = frozenset(),
) -> set[str]:
    """Names of every distribution that this one needs, needs of needs included."""
    found: set[str] = set()
    waiting = [(distribution, extras)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        item = waiting.pop()
        if item in seen or item[0] in without:
            continue
        seen.add(item)
        for requirement in _needs(*item):
            name = canonicalize_name(requirement.name)
            found.add(name)
            waiting.append((name, frozenset(requirement.extras)))
    return found


def _needs(name: str, extras: frozenset[str]) -> list[Requirement]:
    if name == DISTRIBUTION:
        table = project()
        of_extras = [table["optional-dependencies"][extra] for extra in extras]
        return [
            Requirement(line) for lines in (table["dependencies"], *of_extras) for line in lines
        ]
    try:
        lines = requires(name) or []
    except PackageNotFoundError:  # for another platform, or of an extra that nobody asked for
        return []
    requirements = [Requirement(line) for line in lines]
    return [
        requirement
        for requirement in requirements
        if requirement.marker is None
        or any(requirement.marker.evaluate({"extra": extra}) for extra in extras | {""})
    ]


def test_the_service_does_not_bring_torch() -> None:
    needed = brought_by("service")
    assert "fastapi" in needed
    assert needed & {"torch", "transformers", "vllm", "datasets"} == set()


def test_the_trainer_does_not_bring_the_service() -> None:
    needed = brought_by("trainer")
    assert "torch" in needed
    assert needed & {"fastapi", "uvicorn", "math-verify", "latex2sympy2-extended"} == set()


def test_the_adapters_bring_httpx_and_what_that_needs_and_nothing_else() -> None:
    httpx_alone = {"httpx"} | needs_of("httpx")
    assert "httpcore" in httpx_alone
    assert brought_by("adapters") == httpx_alone
    assert httpx_alone & {"pydantic", "rich", "typer", "torch", "fastapi"} == set()


def test_only_torch_itself_brings_sympy_to_the_trainer() -> None:
    assert "sympy" in brought_by("trainer")  # torch requires it; nothing of ours imports it
    assert "sympy" not in brought_by("trainer", without=frozenset({"torch"}))


def pip(python: Path) -> list[str]:
    """The command of this environment's pip for another environment, which has none."""
    return [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(python)]


def install(folder: Path, extra: str, versions: Path = ROOT / "constraints.txt") -> Path:
    """A virtual environment with one extra, from this checkout; its python.

    Args:
        folder: of the environment.
        extra: of this project.
        versions: file of constraints.
    """
    venv.create(folder)
    python = folder / "bin" / "python"
    install = [sys.executable, str(INSTALL), str(python)]
    if extra == "trainer":  # the build that the tests run with, not the newest for a GPU
        torch = next(
            line
            for line in (ROOT / "constraints.txt").read_text().splitlines()
            if "torch==" in line
        )
        cpu_index = "https://download.pytorch.org/whl/cpu"
        from_links = subprocess.run(
            [*install, "--no-index", "--no-deps", torch], capture_output=True
        )
        if from_links.returncode != 0:
            subprocess.run([*install, "--no-deps", "--index-url", cpu_index, torch], check=True)
    constraints = ["--constraint", str(versions)]
    subprocess.run([*install, *constraints, f"{ROOT}[{extra}]"], check=True)
    return python


def test_settings_of_pip_are_handed_to_uv() -> None:
    """The environment wins over files, as it does for pip; options of pip alone are left out."""
    shown = (
        ":env:.find-links='/wheels'\n:env:.timeout='9'\n"
        "global.extra-index-url='https://a/simple https://b/simple'\n"
        "global.find-links='/others'\nuser.index-url='https://mirror/simple'\n"
    )
    assert runpy.run_path(str(INSTALL))["settings_of_uv"](shown) == {
        "UV_FIND_LINKS": "/wheels",
        "UV_INDEX": "https://a/simple https://b/simple",
        "UV_DEFAULT_INDEX": "https://mirror/simple",
        "UV_INDEX_STRATEGY": "unsafe-best-match",
    }


@pytest.mark.slow
def test_the_service_alone_installs_and_scores(tmp_path: Path) -> None:
    python = install(tmp_path / "venv", "service")
    names = subprocess.check_output([*pip(python), "list"], text=True)
    assert "torch" not in names
    assert_scores(python, tmp_path / "service.log")


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the oldest numpy may lack a wheel")
def test_the_service_works_with_the_oldest_packages_that_it_permits(tmp_path: Path) -> None:
    table = project()
    lines = [*table["dependencies"], *table["optional-dependencies"]["service"]]
    versions = tmp_path / "oldest.txt"
    versions.write_text("\n".join(line.replace(">=", "==") for line in lines))
    python = install(tmp_path / "venv", "service", versions)
    shown = subprocess.run([python, "-m", "verifier_service", "--help"], capture_output=True)
    assert shown.returncode == 0, shown.stderr.decode()
    assert_scores(python, tmp_path / "service.log")


def assert_scores(python: Path, log: Path) -> None:
    """Start the service of an environment, and have it judge a completion."""
    with running_service(log, python=str(python)) as url:
        script = (
            "import json, urllib.request as u;"
            "b = {'verifiers': [{'type': 'accuracy'}], 'groups': [{'reference': {'answer': '2'},"
            "'completions': ['It is $2$.']}]};"
            f"r = u.Request('{url}/v1/score', json.dumps(b).encode(),"
            "{'Content-Type': 'application/json'});"
            "print(json.load(u.urlopen(r))['groups'][0]['completions'][0]['verdicts'])"
        )
        assert "'equal'" in subprocess.check_output([python, "-c", script], text=True)


@pytest.mark.slow
def test_the_trainer_alone_installs_and_names_the_missing_service(tmp_path: Path) -> None:
    python = install(tmp_path / "venv", "trainer")
    names = subprocess.check_output([*pip(python), "list"], text=True)
    assert "fastapi" not in names
    presets = subprocess.run(
        [python, "-m", "trainer_client", "presets"], capture_output=True, text=True, check=True
    )
    assert "deepseek_math" in presets.stdout
    service = subprocess.run(
        [python, "-m", "verifier_service", "serve"], capture_output=True, text=True
    )
    assert "pip install 'reward-verifier[service]'" in service.stderr


@pytest.mark.parametrize(
    ("package", "extra"), [("verifier_service", "service"), ("trainer_client", "trainer")]
)
def test_a_command_says_what_it_needs_when_its_extra_is_missing(package: str, extra: str) -> None:
    script = (
        "import importlib.util;"
        "importlib.util.find_spec = lambda name: None;"
        f"from {package}.__main__ import main; main()"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert f"pip install 'reward-verifier[{extra}]'" in result.stderr
