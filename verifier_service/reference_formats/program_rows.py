"""Rows with the tests of programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from verifier_service import strict_json
from verifier_service.plain_pickle import UnreadablePickle, plain_value, unpacked
from verifier_service.reference_formats.json_values import json_value, texts_of
from verifier_service.reference_formats.prompt_helpers import prompt_helpers
from verifier_service.reference_formats.reference_format import (
    DataRow,
    ReferenceFormat,
    RowReading,
    is_empty,
)

MODULE_OF_TESTS = "solution"
"""Module from which KodCode's tests import the program."""


def program_reading(tests: dict[str, Any]) -> RowReading:
    """The reading of a row that has these `reference.tests`."""
    return RowReading("code", {"tests": tests})


def lists_reading(value: Any) -> RowReading | None:
    """The reading of parallel lists `inputs` and `outputs`, with `fn_name` for calls."""
    found = json_value(value)
    if not isinstance(found, dict) or not found.keys() >= {"inputs", "outputs"}:
        return None
    inputs, outputs = found["inputs"], found["outputs"]
    if not isinstance(inputs, list) or not isinstance(outputs, list) or not inputs:
        return None
    tests = {"inputs": inputs, "outputs": outputs}
    if found.get("fn_name"):
        tests["fn_name"] = found["fn_name"]
    return program_reading(tests)


def assertions_reading(value: Any) -> RowReading | None:
    """The reading of test code: a text, or a list of assertions."""
    lines = texts_of(json_value(value)) or ([value] if isinstance(value, str) else None)
    if lines is None or not all(map(_is_test_code, lines)):
        return None
    return program_reading({"type": "asserts", "code": "\n".join(lines)})


_BEGINNINGS_OF_CODE = ("assert ", "assert(", "import ", "from ", "def ", "class ")


def _is_test_code(text: str) -> bool:
    return text.lstrip().startswith(_BEGINNINGS_OF_CODE) and "assert" in text


def objects_reading(value: Any, fn_name: str | None = None) -> RowReading | None:
    """The reading of a list of objects with `input`, `output` and perhaps a kind and a function.

    Args:
        value: the list, or its JSON text.
        fn_name: of calls whose objects name no function.
    """
    found = json_value(value)
    if not isinstance(found, list) or not found:
        return None
    if not all(isinstance(one, dict) and one.keys() >= {"input", "output"} for one in found):
        return None
    kinds = {_kind(one) for one in found}
    names = {name for one in found if (name := _name_of_function(one) or fn_name)}
    if len(kinds) > 1 or len(names) > 1:
        return None
    tests: dict[str, Any] = {
        "inputs": [one["input"] for one in found],
        "outputs": [one["output"] for one in found],
    }
    if kinds == {"call"} or (kinds == {""} and names):
        if not names:
            return None
        tests["fn_name"] = names.pop()
    return program_reading(tests)


def _kind(test: dict[str, Any]) -> str:
    """Whether a test is of standard input or of a call; empty where it does not say."""
    kind = test.get("type", test.get("testtype"))
    if not isinstance(kind, str):
        return ""
    return "call" if kind in ("function_call", "functional", "function", "call") else "stdin"


def _name_of_function(test: dict[str, Any]) -> str | None:
    metadata = test.get("metadata")
    name = test.get("fn_name") or (
        metadata.get("func_name") if isinstance(metadata, dict) else None
    )
    return name if isinstance(name, str) and name else None


def _input_output(row: DataRow) -> RowReading | None:
    return lists_reading(row["input_output"])


def _tests(row: DataRow) -> RowReading | None:
    """DeepCoder's `tests`; and tests as `POST /v1/score` has them."""
    found = json_value(row["tests"])
    if isinstance(found, dict) and "type" in found and found.keys() & {"cases", "code"}:
        return program_reading(found)
    return lists_reading(found) or objects_reading(found) or assertions_reading(found)


def _test_cases(row: DataRow) -> RowReading | None:
    return assertions_reading(row["test_cases"]) or objects_reading(row["test_cases"])


def _is_case(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= {"input", "output"}


def _code_contests(row: DataRow) -> RowReading | None:
    inputs: list[str] = []
    outputs: list[str] = []
    for column in ("public_tests", "private_tests", "generated_tests"):
        tests = json_value(row.get(column))
        if is_empty(tests):
            continue
        if isinstance(tests, list) and all(map(_is_case, tests)):
            tests = {key: [one[key] for one in tests] for key in ("input", "output")}
        if not isinstance(tests, dict) or not tests.keys() >= {"input", "output"}:
            return None
        if not isinstance(tests["input"], list) or not isinstance(tests["output"], list):
            return None
        inputs += tests["input"]
        outputs += tests["output"]
    return program_reading({"inputs": inputs, "outputs": outputs}) if inputs else None


def _live_code_bench(row: DataRow) -> RowReading | None:
    cases: list[Any] = []
    for column in ("public_test_cases", "private_test_cases"):
        found = _packed(row.get(column))
        if is_empty(found):
            continue
        if not isinstance(found, list):
            return None
        cases += found
    metadata = json_value(row.get("metadata"))
    name = metadata.get("func_name") if isinstance(metadata, dict) else None
    return objects_reading(cases, name if isinstance(name, str) else None)


def _packed(value: Any) -> Any:
    """The value of a column that is JSON, or base64 of zlib of a pickle of its text."""
    found = json_value(value)
    if not isinstance(found, str) or not found:
        return found
    try:
        text = plain_value(unpacked(found))
        return strict_json.loads(text) if isinstance(text, str) else text
    except (UnreadablePickle, ValueError, RecursionError):
        return found


def _kod_code(row: DataRow) -> RowReading | None:
    code = row["test"]
    if not isinstance(code, str) or "def test" not in code:
        return None
    return program_reading({"type": "asserts", "code": code, "module": MODULE_OF_TESTS})


def _with_entry_point(row: DataRow) -> RowReading | None:
    """HumanEval's `check(candidate)`, BigCodeBench's `unittest` classes."""
    code, name = row["test"], row["entry_point"]
    if not isinstance(code, str) or not isinstance(name, str):
        return None
    code = prompt_helpers(row.get("prompt"), code, name) + code
    return program_reading({"type": "asserts", "code": code, "entry_point": name})


def _mbpp(row: DataRow) -> RowReading | None:
    lines = texts_of(json_value(row["test_list"]))
    if lines is None:
        return None
    imports = texts_of(json_value(row.get("test_imports"))) or []
    setup = row.get("test_setup_code")
    code = [*imports, *([setup] if isinstance(setup, str) and setup else []), *lines]
    return program_reading({"type": "asserts", "code": "\n".join(code)})


def _formats(*formats: ReferenceFormat) -> Sequence[ReferenceFormat]:
    return formats


PROGRAM_FORMATS = _formats(
    ReferenceFormat("apps", "APPS, TACO", ("input_output",), "code", _input_output),
    ReferenceFormat("tests", "DeepCoder; rows with our `tests`", ("tests",), "code", _tests),
    ReferenceFormat(
        "test_cases", "verifiable-coding-problems, AceCode", ("test_cases",), "code", _test_cases
    ),
    ReferenceFormat("code_contests", "CodeContests", ("public_tests",), "code", _code_contests),
    ReferenceFormat(
        "live_code_bench", "LiveCodeBench", ("public_test_cases",), "code", _live_code_bench
    ),
    ReferenceFormat("kod_code", "KodCode", ("solution", "test"), "code", _kod_code),
    ReferenceFormat(
        "human_eval",
        "HumanEval, HumanEval+, BigCodeBench",
        ("test", "entry_point"),
        "code",
        _with_entry_point,
    ),
    ReferenceFormat("mbpp", "MBPP, MBPP+", ("test_list",), "code", _mbpp),
)
