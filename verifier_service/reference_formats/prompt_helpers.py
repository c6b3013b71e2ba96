"""Functions and classes that a row's prompt defines, and its tests call.

HumanEval's tests of `decode_cyclic` call `encode_cyclic`, LeetCodeDataset's call `list_node`: both
stand in the prompt. Where the tests have them too, no program answers for what it is compared with.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any

MAX_PROMPT_CHARACTERS = 100_000
"""Longest prompt that is read."""
_WORD = re.compile(r"\w+")
_Definition = ast.FunctionDef | ast.ClassDef


def prompt_helpers(prompt: Any, code: str, entry_point: str) -> str:
    """The imports and definitions of a prompt that test code needs; empty where it needs none.

    >>> prompt_helpers("def a(): return 1\\ndef b(): pass", "assert b() == a()", "b")
    'def a():\\n    return 1\\n'
    """
    words = set(_WORD.findall(code))
    statements = list(_statements(prompt, set(_WORD.findall(entry_point))))
    defined = {one.name for one in statements if isinstance(one, _Definition)}
    if all(f"def {name}(" in code for name in defined & words):
        return ""
    try:
        return "".join(f"{ast.unparse(one)}\n" for one in statements)
    except (ValueError, RecursionError, MemoryError):  # numbers and expressions without end
        return ""


def _statements(prompt: Any, entry_point: set[str]) -> Iterator[ast.stmt]:
    """Imports, constants and definitions of a prompt, without those that a program has to write."""
    if not isinstance(prompt, str) or len(prompt) > MAX_PROMPT_CHARACTERS:
        return
    try:
        with warnings.catch_warnings(action="ignore"):
            tree = ast.parse(prompt)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return
    for one in tree.body:
        is_asked = isinstance(one, _Definition) and (one.name in entry_point or _is_stub(one))
        if isinstance(one, _Definition | ast.Import | ast.ImportFrom | ast.Assign) and not is_asked:
            yield one


def _is_stub(definition: _Definition) -> bool:
    """Whether a function, or a method of a class, has nothing that runs."""
    if isinstance(definition, ast.ClassDef):
        return any(_is_stub(one) for one in definition.body if isinstance(one, _Definition))
    return all(map(_says_nothing, definition.body))


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring, `...`, `pass`, or says that something is left to do."""
    if isinstance(statement, ast.Raise):
        return "NotImplemented" in ast.dump(statement)
    is_constant = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_constant or isinstance(statement, ast.Pass)
