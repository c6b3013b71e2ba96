"""The program in a model's answer, as SandboxFusion's data sets look for it: its first block.

`code.extraction` takes the last block, as `/v1/score` does. A client of SandboxFusion expects the
first: its data sets were measured with it.
"""

from __future__ import annotations

import re
from itertools import dropwhile, takewhile

from verifier_service.code.languages.table import LANGUAGES

# A fenced block, closed or not: "```python\nprint(1)\n```". The tag ends at the first line break.
_BLOCK = re.compile(r"^[ \t]*```([^\n`]*)\n(.*?)(?:^[ \t]*(```)|\Z)", re.MULTILINE | re.DOTALL)
# A line that begins a definition or an import at the left margin: "def add(a, b):".
_DEFINITION = re.compile(r"(?:async def|def|class|import|from) |@")
# A line that goes on with definitions: indented, empty, a comment or a closing bracket.
_CONTINUATION = re.compile(r"[ \t#)\]}]|$")


def first_program(text: str, language: str, *, any_tag: bool = False) -> str:
    """The first whole block of a language, else the first whole block; empty if there is none.

    A text without whole blocks has an unfinished one, or definitions in Python without a fence.

    Args:
        text: the model's answer.
        language: language of the program.
        any_tag: take the first whole block, whatever its tag.

    >>> first_program("So:\\n```python\\nprint(1)\\n```\\nDone.", "python")
    'print(1)\\n'
    >>> first_program("def one():\\n    return 1\\nThat is it.", "python")
    'def one():\\n    return 1\\n'
    """
    blocks = [(found[1].strip().lower(), found[2], found[3]) for found in _BLOCK.finditer(text)]
    whole = [(tag, content) for tag, content, closing in blocks if closing]
    tags = LANGUAGES[language].tags if language in LANGUAGES else (language.lower(),)
    tagged = [content for tag, content in whole if tag in tags]
    if whole:
        return whole[0][1] if any_tag or not tagged else tagged[0]
    definitions = _definitions(text) if language == "python" and not blocks else ""
    return blocks[0][1] if blocks else definitions


def _definitions(text: str) -> str:
    """Lines of Python from the first definition or import, to the first line of prose."""
    lines = dropwhile(lambda line: not _DEFINITION.match(line), text.splitlines())
    kept = takewhile(lambda line: _DEFINITION.match(line) or _CONTINUATION.match(line), lines)
    return "".join(f"{line}\n" for line in kept)
