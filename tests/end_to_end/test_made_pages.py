"""The pages of docs/ that are made from the code are those that the code makes."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from scripts.pages.__main__ import DOCS, command_lines, made_pages, pages_of_schemas
from scripts.pages.cli import program_section
from scripts.pages.markdown import prose


@pytest.mark.parametrize("name", ["api.md", "service-settings.md", "training-settings.md"])
def test_a_page_of_a_schema_is_current(name: str) -> None:
    """`.venv/bin/python -m scripts.pages` makes it so."""
    assert Path(DOCS, name).read_text() == pages_of_schemas()[name]


@pytest.mark.parametrize("program", ["verifier-service", "trainer-client"])
def test_the_commands_on_their_page_are_current(program: str) -> None:
    """`.venv/bin/python -m scripts.pages` makes them so."""
    assert program_section(program, command_lines()[program]) in Path(DOCS, "cli.md").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["cli.md", "verifiers.md"])
def test_a_page_with_output_of_the_service_is_current(name: str, http: httpx.Client) -> None:
    """`.venv/bin/python -m scripts.pages` makes it so."""
    made = made_pages(http.get("/v1/verifiers").json()["verifiers"])
    assert Path(DOCS, name).read_text() == made[name]


def test_every_option_and_reason_is_on_the_page_of_the_verifiers(http: httpx.Client) -> None:
    page = Path(DOCS, "verifiers.md").read_text()
    for verifier in http.get("/v1/verifiers").json()["verifiers"]:
        assert f"\n## {verifier['type']}\n" in page
        names = [
            *verifier["options"]["properties"],
            *(one["reason"] for one in verifier["reasons"]),
        ]
        assert [name for name in names if f"`{name}`" not in page and name != "type"] == []


def test_a_default_stands_in_its_own_column_of_the_commands() -> None:
    rows = [line for line in Path(DOCS, "cli.md").read_text().splitlines() if line[:3] == "| `"]
    assert [row for row in rows if "default:" in row] == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<think> and `<think>`", "&lt;think> and `<think>`"),
        ("n * m, [1, 2], a | b", r"n \* m, \[1, 2\], a \| b"),
        ("max_penalty and _private", r"max_penalty and \_private"),
        ("`csv|jsonl`", "<code>csv&#124;jsonl</code>"),
    ],
)
def test_signs_in_a_text_mean_themselves(text: str, expected: str) -> None:
    assert prose(text) == expected
