"""Sources of a final answer in a completion, and the length that it may have.

The API process imports these without the patterns of `extraction`, which take a while to compile.
"""

from __future__ import annotations

from typing import Literal, get_args

Source = Literal["answer_tag", "boxed", "hashes", "answer_phrase", "math", "last_expression"]
SOURCES: tuple[Source, ...] = get_args(Source)
StatementSource = Literal["answer_tag", "boxed", "answer_phrase", "last_line"]
STATEMENT_SOURCES: tuple[StatementSource, ...] = get_args(StatementSource)
"""Sources of the statement that names an option."""

MAX_ANSWER_CHARACTERS = 10_000
"""Longest answer that is compared."""
