"""Write the pages of docs/ that are made from the code: verifiers, API, commands and settings.

.venv/bin/python -m scripts.pages
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
import typer

from scripts.pages.api import api_page
from scripts.pages.cli import cli_page
from scripts.pages.service_settings import service_settings_page
from scripts.pages.training_settings import training_settings_page
from scripts.pages.verifiers import SHOWN, verifiers_page
from trainer_client.cli import app as trainer_client
from trainer_client.config.run_config import Config
from trainer_client.service_process import running_service
from verifier_service.cli import make_app

DOCS = Path(__file__).parents[2] / "docs"


def made_pages(verifiers: list[dict[str, Any]]) -> dict[str, str]:
    """The text of each file in docs/ that is made.

    Args:
        verifiers: of the response to `GET /v1/verifiers`.
    """
    return {
        **pages_of_schemas(),
        "verifiers.md": verifiers_page(verifiers, options_shown=output("verifiers", SHOWN)),
        "cli.md": cli_page(
            command_lines(),
            shown=("verifier-service verifiers tag_count", output("verifiers", "tag_count")),
        ),
    }


def pages_of_schemas() -> dict[str, str]:
    """The files that are made without a process."""
    document = json.loads((DOCS / "openapi.json").read_text())
    return {
        "api.md": api_page(document),
        "service-settings.md": service_settings_page(make_app()),
        "training-settings.md": training_settings_page(Config.model_json_schema()),
    }


def command_lines() -> dict[str, typer.Typer]:
    """The two command lines by name."""
    return {"verifier-service": make_app(), "trainer-client": trainer_client}


def output(*arguments: str) -> str:
    """What a command of the service prints."""
    command = [sys.executable, "-m", "verifier_service", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main() -> None:
    """Ask a service of this tree, and write the files."""
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "service.log", "--workers", "1") as url,
    ):
        listed = httpx.get(f"{url}/v1/verifiers", timeout=600).json()["verifiers"]
    for name, text in made_pages(listed).items():
        (DOCS / name).write_text(text)
        print(f"docs/{name}")


if __name__ == "__main__":
    main()
