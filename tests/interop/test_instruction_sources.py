"""`instruction_following` beside the code of IFEval, IF-RLVR and IFBench, on the same responses.

The labels are what that code says of real responses and of texts made to meet or to game a check,
for each of its constraints with arguments that it draws itself. They need clones (`make peers`).
"""

from __future__ import annotations

import logging
import sys
from collections import Counter
from typing import Any

import pytest

from tests.interop.instruction_sources import GIVEN, NLTK_DATA, SOURCES, SourceChecks
from tests.shared_data import shared_data
from tests.verifiers.test_instruction_following import TWINS
from verifier_service.completion import Completion
from verifier_service.verifier import Judge
from verifier_service.verifiers.instruction_following import InstructionFollowing

pytestmark = pytest.mark.interop
STRIDE = 60
FEWEST_EQUAL = 0.99


def texts_for(arguments: dict[str, Any]) -> list[str]:
    """Texts that have the texts among the arguments at places where a constraint may want them."""
    every = [one for value in arguments.values() for one in _texts(value)]
    made = [f(one) for one in every for f in (str, "{} is here.".format, "It says {}".format)]
    return [*made, " ".join(every)] if every else []


def _texts(value: Any) -> list[str]:
    return [one for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)]


def judge_of(constraint_id: str, arguments: dict[str, Any]) -> Judge:
    verifier = InstructionFollowing(mode="source", part="completion")
    return verifier.prepare({"instructions": [{"id": constraint_id, "kwargs": arguments}]})


def cloned(name: str) -> pytest.MarkDecorator:
    folder, _ = SOURCES[name]
    is_missing = not folder.exists() or not NLTK_DATA.exists()
    return pytest.mark.skipif(is_missing, reason=f"`make peers` clones {folder} and {NLTK_DATA}")


@pytest.mark.parametrize("name", [pytest.param(one, marks=cloned(one)) for one in sorted(SOURCES)])
def test_verdicts_are_those_of_the_source(name: str) -> None:
    logging.disable(logging.CRITICAL)
    source, found = SourceChecks(name), Counter[str]()
    real = [row["response"] for row in shared_data("format/ifeval_labelled.jsonl.gz")[::STRIDE]]
    twins = [text for _, *pair in TWINS[:: 1 if name == "ifbench" else 3] for text in pair]
    differing: Counter[str] = Counter()
    for constraint_id in source.checkers:
        arguments = GIVEN.get(constraint_id) or source.arguments(constraint_id, 1)
        judge = judge_of(constraint_id, arguments)
        for text in [*real, *twins, *texts_for(arguments)]:
            wanted = source.verdict(constraint_id, arguments, text)
            if wanted is None:
                found["raised"] += 1
                continue
            is_equal = (judge(Completion(text)).score == 1) == wanted  # type: ignore[union-attr]
            found["equal" if is_equal else "different"] += 1
            found["followed"] += wanted
            differing[constraint_id] += not is_equal
    logging.disable(logging.NOTSET)
    shown = {one: number for one, number in differing.items() if number}
    sys.stdout.write(f"{name}: {len(source.checkers)} constraints, {dict(found)}, {shown}\n")
    number = found["equal"] + found["different"]
    assert number > 1000
    assert found["followed"] > number / 10
    assert found["equal"] >= FEWEST_EQUAL * number
