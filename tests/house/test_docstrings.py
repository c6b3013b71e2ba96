"""A docstring names its subject: whoever reads it alone knows what it is about."""

from __future__ import annotations

import re

import pytest

from tests.house.source import PACKAGES, modules

# A first word that leans on the name beside it: "Of an answer that is not streamed; once."
WITHOUT_SUBJECT = re.compile(
    r"(?:Of|For|By|The same|Also|As|In|On|At(?! most| least)|From|To|With|Without|Where|Than|That"
    r"|Again|Until|After|Before|Because|But|And|Or|Nor|So|What|When|Once|Not|Even|If)\b"
)


@pytest.mark.parametrize("package", [*PACKAGES, "benchmarks", "tests"])
def test_every_docstring_names_its_subject(package: str) -> None:
    found = [
        f"{module.place}:{line}: {text.splitlines()[0]}"
        for module in modules(package)
        for line, text in module.docstrings
        if WITHOUT_SUBJECT.match(text.lstrip())
    ]
    assert found == []
