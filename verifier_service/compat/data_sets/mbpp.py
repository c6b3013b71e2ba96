"""MBPP: a function for a sentence, and lines of assertions."""

from __future__ import annotations

from fastapi import Request

from verifier_service.compat.data_sets.messages import (
    DataSetConfig,
    DataSetPrompt,
    DataSetRow,
    Evaluation,
    SubmitRequest,
)
from verifier_service.compat.data_sets.rows import UnusableRow, column, json_column, refuse_examples
from verifier_service.compat.data_sets.verdicts import (
    DEFAULT_SECONDS,
    evaluation,
    judged,
    program_of,
)

_MBPP_PROMPT = (
    "You are an expert Python programmer, and here is your task: {content} "
    "Your code should pass these tests:\n\n{tests}"
)
"""The prompt of the paper on MBPP (Austin et al., 2021), without examples."""


def mbpp_prompts(row: DataSetRow, config: DataSetConfig) -> list[DataSetPrompt]:
    """The prompt of a row. Raises UnusableRow."""
    refuse_examples(config)
    tests = "\n".join(map(str, json_column(row, "test_list", list)))
    prompt = _MBPP_PROMPT.format(content=column(row, "content"), tests=tests)
    labels = json_column(row, "labels", dict)
    return [DataSetPrompt(id=column(row, "id", (str, int)), prompt=prompt, labels=labels)]


async def evaluate_mbpp(request: Request, body: SubmitRequest, row: DataSetRow) -> Evaluation:
    """The judgement of a completion. Raises UnusableRow, QueueFull, VerdictFailed."""
    tests = json_column(row, "test_list", list)
    if not tests or not all(isinstance(test, str) for test in tests):
        raise UnusableRow("config.provided_data.test_list: expected lines of test code")
    answered = body.model_copy(update={"completion": body.completion.partition("[DONE]")[0]})
    completion = program_of(answered, any_tag=True)
    for stop in ("\nassert", '\n"""', "if __name__ =="):
        completion = completion.partition(stop)[0]
    setup = str(json_column(row, "labels", dict).get("test_setup_code", ""))
    program, asked = f"{setup}\n{completion}", {"type": "asserts", "code": "\n".join(tests)}
    seconds = body.config.run_timeout or DEFAULT_SECONDS
    verdict = await judged(request, body, program, asked, seconds)
    return evaluation(body, verdict, program, program, asked["code"])
