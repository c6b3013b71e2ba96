"""Programs that do nothing useful. Tests that one of them passes pay for nothing."""

from __future__ import annotations

import builtins
import re
from collections.abc import Mapping, Sequence
from typing import Any

MAX_CODE_CHARACTERS = 200_000
"""Longest test code that is looked through for names."""
MAX_NAMES = 8
"""Most functions that a trivial program defines."""

# A call whose name stands alone: the `add` of `assert add(1) == 2`, not that of `math.add(1)`.
_CALL = re.compile(r"(?<![\w.])([A-Za-z_]\w{0,99})\(")
# A definition or an import in test code: `def check(`, `class T`, `import math`, `from x import y`.
_DEFINED = re.compile(
    r"^[ \t]{0,40}(?:def|class)[ \t]+(\w{1,99})|^[ \t]{0,40}(?:import|from)[ \t]([^\n]{1,300})",
    re.MULTILINE,
)
_IMPORTED_NAME = re.compile(r"\w+")
_KEYWORDS = frozenset({"assert", "not", "and", "or", "in", "is", "if", "for", "lambda", "return"})
_RESULTS = {
    "return None": "None",
    "return args[0]": "(args[0] if args else None)",
    "return True": "True",
    "return False": "False",
    "return 0": "0",
    'return ""': "''",
    "return []": "[]",
}


def trivial_programs(tests: Mapping[str, Any]) -> dict[str, str]:
    """Python programs by what they do; empty where the tests name no function to define."""
    if _is_stdio(tests):
        return _printing(tests)
    names = _names(tests)
    results = _RESULTS | _first_result(tests)
    return {does: _defining(names, value) for does, value in results.items()} if names else {}


def _is_stdio(tests: Mapping[str, Any]) -> bool:
    if "inputs" in tests:
        return not tests.get("fn_name")
    return tests.get("type") == "stdio"


def _printing(tests: Mapping[str, Any]) -> dict[str, str]:
    found = {
        "print nothing": "pass",
        "print the input": "import sys\nsys.stdout.write(sys.stdin.read())",
    }
    outputs = expected_outputs(tests)
    # One test alone is too few; that a constant passes it says no more.
    if len(outputs) > 1:
        first = outputs[0]
        text = "\n".join(map(str, first)) if isinstance(first, list) else str(first)
        found["print the first expected output"] = f"print({text!r}, end='')"
    return found


def _first_result(tests: Mapping[str, Any]) -> dict[str, str]:
    outputs = expected_outputs(tests)
    if len(outputs) < 2:
        return {}
    return {"return the first expected result": repr(outputs[0])}


def expected_outputs(tests: Mapping[str, Any]) -> Sequence[Any]:
    """The outputs or results that tests with cases expect."""
    if isinstance(tests.get("outputs"), list):
        return list(tests["outputs"])
    cases = tests.get("cases")
    if not isinstance(cases, list):
        return []
    return [one.get("stdout", one.get("returns")) for one in cases if isinstance(one, dict)]


def given_inputs(tests: Mapping[str, Any]) -> Sequence[Any]:
    """The inputs or arguments of tests with cases."""
    if isinstance(tests.get("inputs"), list):
        return list(tests["inputs"])
    cases = tests.get("cases")
    if not isinstance(cases, list):
        return []
    keys = ("stdin", "args", "kwargs")
    return [[one.get(key) for key in keys] for one in cases if isinstance(one, dict)]


def _names(tests: Mapping[str, Any]) -> list[str]:
    """The functions that a program has to define."""
    name = tests.get("entry_point") or tests.get("fn_name")
    if isinstance(name, str) and name.isidentifier():
        return [name]
    code = tests.get("code")
    return _called(code) if isinstance(code, str) and len(code) <= MAX_CODE_CHARACTERS else []


def _called(code: str) -> list[str]:
    """Names that test code calls and does not define."""
    known = {*dir(builtins), *_KEYWORDS}
    imported: set[str] = set()
    for definition, names in _DEFINED.findall(code):
        known.add(definition)
        if names:
            imported |= set(_IMPORTED_NAME.findall(names))
    called = [one for one in dict.fromkeys(_CALL.findall(code)) if one not in known]
    # Tests of KodCode import the program's functions from its module.
    wanted = [one for one in called if one not in imported or "solution" in imported]
    return wanted[:MAX_NAMES]


def _defining(names: Sequence[str], value: str) -> str:
    return "\n".join(f"def {name}(*args, **kwargs):\n    return {value}\n" for name in names)
