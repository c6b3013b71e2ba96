"""LiveCodeBench: functions or whole programs, whose tests may be packed."""

from __future__ import annotations

from typing import Any

from fastapi import Request

from verifier_service import strict_json
from verifier_service.compat.data_sets.messages import (
    DataSetConfig,
    DataSetPrompt,
    DataSetRow,
    Evaluation,
    SubmitRequest,
)
from verifier_service.compat.data_sets.rows import UnusableRow, column, json_column, refuse_examples
from verifier_service.compat.data_sets.verdicts import evaluation, judged, program_of, with_prelude
from verifier_service.compat.packed_tests import packed_value
from verifier_service.plain_pickle import UnreadablePickle


def live_prompts(row: DataSetRow, config: DataSetConfig) -> list[DataSetPrompt]:
    """The prompt of a row. Raises UnusableRow."""
    refuse_examples(config)
    labels = json_column(row, "labels", dict)
    content = column(row, "content")
    return [DataSetPrompt(id=column(row, "id", (str, int)), prompt=content, labels=labels)]


async def evaluate_live(request: Request, body: SubmitRequest, row: DataSetRow) -> Evaluation:
    """The judgement of a completion. Raises UnusableRow, TooMuchHere, QueueFull, VerdictFailed."""
    tests = await _packed_tests(request, row)
    completion = program_of(body)
    seconds = body.config.run_timeout or 6.0
    verdict = await judged(request, body, with_prelude(completion), tests, seconds)
    return evaluation(body, verdict, completion, completion)


async def _packed_tests(request: Request, row: DataSetRow) -> dict[str, Any]:
    """Tests with `inputs` and `outputs`. Raises UnusableRow, TooMuchHere."""
    found = column(row, "test", (dict, str))
    if isinstance(found, str):
        found = await _value_in(request, found)
    tests = found.get("input_output") if isinstance(found, dict) else found
    try:
        tests = strict_json.loads(tests) if isinstance(tests, str) else tests
    except (ValueError, RecursionError) as error:
        raise UnusableRow("config.provided_data.test.input_output is not JSON") from error
    if not isinstance(tests, dict) or not tests.keys() >= {"inputs", "outputs"}:
        raise UnusableRow(
            "config.provided_data.test: expected input_output, an object with inputs and outputs"
        )
    if tests.get("fn_name"):
        return {name: tests[name] for name in ("inputs", "outputs", "fn_name")}
    return {"type": "stdio", "checker": "tokens", "cases": _cases_of(tests)}


def _cases_of(tests: dict[str, Any]) -> list[dict[str, str]]:
    """The cases of whole programs. Raises UnusableRow."""
    inputs, outputs = tests["inputs"], tests["outputs"]
    if not (isinstance(inputs, list) and isinstance(outputs, list) and len(inputs) == len(outputs)):
        raise UnusableRow(
            "config.provided_data.test: inputs and outputs must be lists of the same length"
        )
    return [
        {"stdin": _text(given), "stdout": _text(expected)}
        for given, expected in zip(inputs, outputs, strict=True)
    ]


def _text(value: Any) -> str:
    """An input or an output as text; a list is one of lines."""
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


async def _value_in(request: Request, text: str) -> Any:
    """The tests that a text holds, as JSON or packed. Raises UnusableRow, TooMuchHere."""
    try:
        return strict_json.loads(text)
    except (ValueError, RecursionError):
        pass
    try:
        return await packed_value(request, text)
    except UnreadablePickle as error:
        raise UnusableRow(
            f"config.provided_data.test is neither JSON nor packed plain data: {error}"
        ) from error
