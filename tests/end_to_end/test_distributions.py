"""The published files: the source distribution, the wheel, and their page on an index."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import BytesParser
from pathlib import Path

import pytest
import yaml

from trainer_client.service_process import running_service
from verifier_service import __version__

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
ADDRESS = PROJECT["urls"]["Repository"]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
PAGES = f"{ADDRESS}/blob/v{__version__}/"
IMAGES = f"{ADDRESS.replace('github.com', 'raw.githubusercontent.com')}/v{__version__}/"
SCORE = (
    "from reward_verifier import Verifier, VerifierUnavailable\n"
    "verifier = Verifier({url!r}, max_attempts=1)\n"
    "(found,) = verifier.score([r'\\boxed{{4}}'], {{'answer': '4'}})\n"
    "print(found.reward, found.verdicts['accuracy'].reason)"
)


def build(source: Path, kind: str, folder: Path) -> Path:
    """The distribution of a tree, built by what builds releases."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)
    (found,) = folder.iterdir()
    return found


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, "wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def shown(wheel: Path) -> Message:
    """The page of an index."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return BytesParser().parsebytes(archive.read(name))


@pytest.mark.slow
def test_the_source_distribution_has_no_tests_and_so_no_hostile_programs(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "CHANGELOG.md", "SECURITY.md", "LICENSE", "pyproject.toml"} <= names
    assert "reward_verifier/py.typed" in names
    assert "docs/deploy.md" in names
    tops = {name.partition("/")[0] for name in names}
    assert tops & {"tests", "benchmarks", "docker", "scripts", "runs", "shared"} == set()


@pytest.mark.slow
def test_a_wheel_of_the_source_distribution_is_that_of_the_tree(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    again = build(next(tmp_path.iterdir()), "wheel", tmp_path / "wheel")
    with zipfile.ZipFile(again) as found, zipfile.ZipFile(wheel) as expected:
        assert set(found.namelist()) == set(expected.namelist())
        page = "verifier_service/http/page.html"
        assert found.read(page) == expected.read(page)


def test_links_of_the_readme_are_absolute_where_an_index_shows_it(shown: Message) -> None:
    text = str(shown.get_payload())
    assert text.startswith("# reward-verifier")
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(links) > 15
    assert all(link.startswith(("https://", "http://")) for link in links)
    ours = [link for link in links if link.startswith((PAGES, IMAGES))]
    assert len(ours) > 15
    for link in ours:
        path = link.removeprefix(PAGES).removeprefix(IMAGES).partition("#")[0]
        assert (ROOT / path).is_file(), link
    assert f"({IMAGES}docs/page.png)" in text


def test_an_index_shows_the_version_the_pythons_and_the_addresses(shown: Message) -> None:
    assert shown["Version"] == __version__
    versions = [one.rpartition(" ")[2] for one in shown.get_all("Classifier", []) if "3." in one]
    assert tuple(versions) == PYTHONS
    addresses = dict(one.split(", ") for one in shown.get_all("Project-URL", []))
    assert set(addresses) == {"Repository", "Documentation", "Changelog", "Issues"}
    assert all(address.startswith(ADDRESS) for address in addresses.values())


def test_every_file_that_names_the_version_names_this_one() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["repository-code"]) == (__version__, ADDRESS)
    newest = re.search(r"^## \[(\d.*?)\] - (\S+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert newest
    assert newest.groups() == (__version__, citation["date-released"])


def test_the_project_has_one_address() -> None:
    """The placeholder is said in pyproject.toml; whoever moves the project finds all of it."""
    listed = subprocess.check_output(
        ["git", "grep", "-hoE", r"github(usercontent)?\.com/reward-verifier/[A-Za-z0-9_-]+"],
        cwd=ROOT,
        text=True,
    )
    assert {line.partition("/")[2] for line in listed.split()} == {ADDRESS.split(".com/")[1]}


def test_the_workflow_runs_what_decides_on_every_python() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text())
    _, python, run = workflow["jobs"]["run"]["steps"]
    assert sorted(python["with"]["python-version"].split()) == list(PYTHONS)
    assert run == {"run": ".ci/run"}
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml")), ids=lambda path: path.name
)
def test_an_issue_template_can_be_read(path: Path) -> None:
    form = yaml.safe_load(path.read_text())
    if path.name == "config.yml":
        assert form["contact_links"][0]["url"].startswith(ADDRESS)
        return
    assert {"name", "description", "labels", "body"} <= set(form)
    assert any(field.get("validations", {}).get("required") for field in form["body"])


def python_of(version: str) -> str:
    """A Python of this version that runs; skips the test where the machine has none."""
    managed = Path.home().glob(f".pyenv/versions/{version}.*/bin/python{version}")
    for found in filter(None, (shutil.which(f"python{version}"), *map(str, managed))):
        command = [found, "-c", "import ensurepip, sys; print(sys.version)"]
        asked = subprocess.run(command, capture_output=True, text=True)
        if asked.returncode == 0 and asked.stdout.startswith(version):
            return found
    pytest.skip(f"this machine has no Python {version}")


def install(python: str, folder: Path, wheel: Path, extra: str) -> Path:
    """The folder with the commands of a fresh environment that has the wheel with an extra."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(folder)], check=True)
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    command = [sys.executable, str(ROOT / "scripts" / "install"), str(folder / "bin" / "python")]
    subprocess.run([*command, "--constraint", str(ROOT / "constraints.txt"), wanted], check=True)
    # The judge's modules are compiled here: at a worker's first import it may take too long.
    imported = "import sympy, math_verify" if "service" in extra else ""
    subprocess.run([folder / "bin" / "python", "-c", imported], check=True)
    return folder / "bin"


@pytest.mark.slow
@pytest.mark.parametrize("version", PYTHONS)
def test_the_wheel_installs_and_scores_on_each_python(
    version: str, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client alone asks the service of the same wheel, each in an environment of its own."""
    monkeypatch.chdir(tmp_path)  # or the tree's own modules would be found first
    python = python_of(version)
    service = install(python, tmp_path / "service", wheel, "service,otel,adapters")
    client = install(python, tmp_path / "client", wheel, "")
    shown = subprocess.check_output([service / "verifier-service", "--version"], text=True)
    assert shown == f"verifier-service {__version__}\n"
    with running_service(tmp_path / "log", "--workers", "1", python=str(service / "python")) as url:
        script = SCORE.format(url=url)
        found = subprocess.check_output([client / "python", "-c", script], text=True)
    assert found == "1.0 equal\n"
    names = "from importlib.metadata import distributions as d; print(*(one.name for one in d()))"
    listed = subprocess.check_output([client / "python", "-c", names], text=True).split()
    assert "reward-verifier" in listed
    unwanted = ("fastapi", "torch", "pydantic", "sympy", "opentelemetry")
    assert [name for name in listed if name.startswith(unwanted)] == []
