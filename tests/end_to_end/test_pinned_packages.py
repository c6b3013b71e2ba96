"""Parts of the images are fixed: packages by version and hash, images by digest."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ROOT / "docker" / "requirements"
# An entry and its hashes: `httpx==0.28.1 \`, then lines `    --hash=sha256:... \`.
ENTRY = re.compile(r"^([\w.-]+)==(\S+)((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.M)


def entries(name: str) -> dict[str, str]:
    """The versions in a file of requirements by package; each line belongs to an entry."""
    text = (REQUIREMENTS / f"{name}.txt").read_text()
    assert ENTRY.sub("", text).split("\n", 1)[1].strip() == ""
    return {canonicalize_name(found[1]): found[2] for found in ENTRY.finditer(text)}


def constraints() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pairs = (line.split("==") for line in lines if "==" in line)
    return {canonicalize_name(name): version for name, version in pairs}


@pytest.mark.parametrize("name", ["service", "trainer"])
def test_an_image_has_what_the_project_needs_in_the_tested_versions(name: str) -> None:
    """Else: scripts/pin-requirements."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = project["dependencies"] + project["optional-dependencies"][name]
    packages = {canonicalize_name(Requirement(line).name) for line in needed} - {"torch"}
    found, tested = entries(name), constraints()
    assert packages <= set(found)
    found.pop("setuptools", None)  # tensorboard needs it, and every environment here has one
    assert {package: tested.get(package) for package in found} == found


def test_what_builds_the_image_is_fixed_too() -> None:
    wanted = (REQUIREMENTS / "build.in").read_text().splitlines()
    assert {line for line in wanted if not line.startswith("#")} <= set(entries("build"))


def test_images_are_pinned_and_pinned_anew(tmp_path: Path) -> None:
    """A stand-in of the registry knows every image; no real one is reached."""
    shutil.copy(ROOT / "compose.yaml", tmp_path)
    shutil.copytree(ROOT / "docker", tmp_path / "docker")
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts" / "pin-images", tmp_path / "scripts")
    docker = tmp_path / "bin" / "docker"
    docker.parent.mkdir()
    for digit in ("5", "6"):
        docker.write_text(f"#!/bin/sh\necho sha256:{digit * 64}\n")
        docker.chmod(0o755)
        path = f"{docker.parent}:{os.environ['PATH']}"
        said = subprocess.run(
            [tmp_path / "scripts" / "pin-images"],
            env={**os.environ, "PATH": path},
            check=True,
            capture_output=True,
            text=True,
        )
        files = [tmp_path / "compose.yaml", *(tmp_path / "docker").glob("*.Dockerfile")]
        text = "\n".join(file.read_text() for file in files)
        named = re.findall(r"_IMAGE(?:=|:-)([a-z]\S*?)[}\s]", text)
        assert set(named) == set(said.stdout.split())
        assert all(re.fullmatch(rf"\S+:\S+@sha256:{digit * 64}", image) for image in named)
        assert len(set(named)) == 5
