"""HumanEval: a function that continues a prompt, and test code with `check(candidate)`."""

from __future__ import annotations

import re

from fastapi import Request

from verifier_service.compat.data_sets.messages import (
    DataSetConfig,
    DataSetPrompt,
    DataSetRow,
    Evaluation,
    SubmitRequest,
)
from verifier_service.compat.data_sets.rows import UnusableRow, column
from verifier_service.compat.data_sets.verdicts import (
    DEFAULT_SECONDS,
    evaluation,
    judged,
    program_of,
    with_prelude,
)

_WHOLE_FUNCTION = (
    "Complete the code above as its docstring asks. Write all of the code in a fenced block, "
    "without a main function."
)


def humaneval_prompts(row: DataSetRow, config: DataSetConfig) -> list[DataSetPrompt]:
    """The prompt of a row. Raises UnusableRow."""
    prompt = column(row, "prompt")
    if config.extra.get("is_freeform"):
        language = str(row.get("language", "python"))
        prompt = f"```{language}\n{prompt}\n```\n\n{_WHOLE_FUNCTION}"
    name = "task_id" if "task_id" in row else "name"
    labels = {key: value for key, value in row.items() if key != "prompt"}
    return [DataSetPrompt(id=column(row, name, (str, int)), prompt=prompt, labels=labels)]


async def evaluate_humaneval(request: Request, body: SubmitRequest, row: DataSetRow) -> Evaluation:
    """The judgement of a completion. Raises UnusableRow, QueueFull, VerdictFailed."""
    language = str(row.get("language", "python"))
    if language != "python":
        raise UnusableRow(
            f"config.provided_data.language is {language[:50]!r}: tests in other languages than "
            "python are part of the program, which can end before them; run them with /run_code"
        )
    tests = column(row, "test" if "test" in row else "tests")
    if body.config.extra.get("is_freeform"):
        completion = program_of(body)
        program = completion
    else:
        completion = _up_to_stop(body.completion, row)
        program = f"{column(row, 'prompt')}\n{completion}"
    entry_point = row.get("entry_point")
    asked = {"type": "asserts", "code": tests}
    if isinstance(entry_point, str):
        asked["entry_point"] = entry_point
    seconds = body.config.run_timeout or DEFAULT_SECONDS
    program = with_prelude(program)
    verdict = await judged(request, body, program, asked, seconds)
    return evaluation(body, verdict, completion, program, tests)


# A line at the left margin, where the body of a function ends: "\nclass".
_LEFT_MARGIN = re.compile(r"\n(?=[^\s])")


def _up_to_stop(completion: str, row: DataSetRow) -> str:
    """The completion up to the first of the row's stop tokens, else to the end of its body."""
    given = row.get("stop_tokens")
    stops = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
    for stop in stops:
        if stop and stop != "\n\n" and not stop.startswith("re:"):
            completion = completion.partition(stop)[0]
    # An expression of the row is not run here: it can take forever. Rows of Python have this one.
    if not stops or any(stop.startswith("re:") for stop in stops):
        completion = _LEFT_MARGIN.split(completion, maxsplit=1)[0]
    return completion
