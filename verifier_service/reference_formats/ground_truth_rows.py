"""Rows of trainers, whose one ground truth is an answer, tests, instructions or calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from verifier_service.reference_formats.answer_rows import answer_reading
from verifier_service.reference_formats.json_values import is_answer, json_value
from verifier_service.reference_formats.program_rows import (
    assertions_reading,
    lists_reading,
    objects_reading,
    program_reading,
)
from verifier_service.reference_formats.puzzle_rows import (
    countdown_reading,
    guru_reading,
    table_reading,
)
from verifier_service.reference_formats.reference_format import DataRow, ReferenceFormat, RowReading
from verifier_service.reference_formats.task_rows import (
    accepted_calls_reading,
    calls_reading,
    instructions_reading,
    tagged_calls_reading,
)


def _functional(value: Any) -> RowReading | None:
    """Test code under the key `functional` or `test_code`, as Skywork-OR1 and DeepCoder have it.

    Skywork-OR1 puts imports and definitions before it, and calls `check` with an entry point.
    """
    found = json_value(value)
    if not isinstance(found, dict):
        return None
    code = found.get("functional") or found.get("test_code")
    prefix, name = found.get("import_prefix"), found.get("entry_point")
    reading = assertions_reading(code) if isinstance(code, str) else None
    if reading is None or not isinstance(code, str):
        return None
    whole = f"{prefix}\n{code}" if isinstance(prefix, str) and prefix else code
    tests = {"type": "asserts", "code": whole}
    return program_reading({**tests, "entry_point": name} if isinstance(name, str) else tests)


def _typed_tests(value: Any) -> RowReading | None:
    found = json_value(value)
    if isinstance(found, dict) and "type" in found and found.keys() & {"cases", "code"}:
        return program_reading(found)
    return None


def _targets(value: Any) -> RowReading | None:
    """Search-R1: texts of which the answer must be one."""
    found = json_value(value)
    if not isinstance(found, dict) or found.keys() != {"target"} or not is_answer(found["target"]):
        return None
    return RowReading("string_similarity", {"answer": found["target"]})


def _instructions(value: Any) -> RowReading | None:
    return instructions_reading(value, "ground_truth")


def _bare_answer(value: Any) -> RowReading | None:
    """An answer, or a JSON list of answers in a text, which `accuracy` reads itself."""
    found = json_value(value)
    return answer_reading(value) if not isinstance(found, dict) and is_answer(found) else None


_KINDS: tuple[Callable[[Any], RowReading | None], ...] = (
    lists_reading,
    _functional,
    _typed_tests,
    objects_reading,
    assertions_reading,
    tagged_calls_reading,
    calls_reading,
    accepted_calls_reading,
    _instructions,
    countdown_reading,
    table_reading,
    _targets,
    _bare_answer,
)
"""Kinds of ground truths. The first that fits decides: none but the last takes a bare text."""


def ground_truth_reading(value: Any) -> RowReading | None:
    """The reading of a ground truth, whatever its kind; None where it has none of them."""
    return next((found for kind in _KINDS if (found := kind(value)) is not None), None)


def _reward_model(row: DataRow) -> RowReading | None:
    reward_model = json_value(row["reward_model"])
    if not isinstance(reward_model, dict):
        return None
    ground_truth = reward_model.get("ground_truth")
    puzzle = guru_reading(row.get("data_source"), ground_truth)
    return puzzle or ground_truth_reading(ground_truth)


def _ground_truth(row: DataRow) -> RowReading | None:
    return ground_truth_reading(row["ground_truth"])


def _verification_info(row: DataRow) -> RowReading | None:
    """SYNTHETIC: what verifies stands in one column, by the kind of task."""
    info = json_value(row["verification_info"])
    if not isinstance(info, dict):
        return None
    if row.get("task_type") == "llm_judgeable_groundtruth_similarity":
        return RowReading("answer_judge", {"answer": info.get("ground_truth")})
    if "test_cases" in info:
        return objects_reading(info["test_cases"])
    if "output" in info:
        return RowReading("exact_match", {"answer": info["output"]})
    return ground_truth_reading(info.get("ground_truth"))


GROUND_TRUTH_FORMATS = (
    ReferenceFormat(
        "verl",
        "DAPO-Math-17k, Skywork-OR1, Eurus-2-RL, GURU, ToolRL, TinyZero, Search-R1",
        ("reward_model",),
        "accuracy",
        _reward_model,
    ),
    ReferenceFormat(
        "ground_truth", "Tulu 3, IF-RLVR, BFCL", ("ground_truth",), "accuracy", _ground_truth
    ),
    ReferenceFormat(
        "synthetic",
        "SYNTHETIC-1, SYNTHETIC-2, verifiable-math-problems, verifiable-coding-problems",
        ("verification_info",),
        "accuracy",
        _verification_info,
    ),
)
