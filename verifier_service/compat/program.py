"""A bare program as a completion."""

from __future__ import annotations

import re

_BACKTICKS = re.compile("`{3,}")


def fenced(source: str) -> str:
    """A completion whose one fenced block is the source, whatever fences that has itself.

    >>> fenced("print(1)")
    '```python\\nprint(1)\\n```\\n'
    """
    longest = max(map(len, _BACKTICKS.findall(source)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}python\n{source}\n{fence}\n"
