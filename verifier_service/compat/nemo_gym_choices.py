"""Tasks of NeMo Gym whose answer is one of a few: options, judgements, labels.

Each server reads the choice from a place of its own. What stands there goes to `multiple_choice` in
a box; an answer that names two choices, or none, has an empty one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from verifier_service.compat.nemo_gym_plan import GymTask, OtherRule, TaskPlan
from verifier_service.mathematics.answer_sources import StatementSource
from verifier_service.verifiers.multiple_choice import MultipleChoice

MCQA_SOURCES: dict[str, tuple[StatementSource, ...]] = {
    "strict_single_letter_boxed": ("boxed",),
    "lenient_boxed": ("boxed",),
    "lenient_answer_colon": ("answer_phrase",),
    "lenient_answer_colon_md": ("answer_phrase",),
}
"""The only places of an answer, by the `grading_mode` of mcqa."""
BOTH, NEITHER = "both of them", "none of them"
SAME_LABELS = {
    BOTH: ("both", "both objects", "both of the objects", "both of these"),
    NEITHER: ("none", "none of the objects", "neither", "neither of them", "neither object"),
}
"""Other words for the labels that spartqa adds to the options."""
MAX_LABELS = 20
MAX_LABEL_CHARACTERS = 1_000
# The words of a judgement: `**Judgement:** Yes`.
_JUDGEMENT = re.compile(r"\*{0,2}judgement\*{0,2}[ \t]*:[\s*]*(yes|no)\b", re.IGNORECASE)
# The place of a label: `Final answer: both of them`.
_FINAL_ANSWER = re.compile(r"\banswer(?: is)?[ *_`]*:[ *_`]*([^\n]+)", re.IGNORECASE)


def options(task: GymTask, text: str) -> TaskPlan:
    """mcqa, swerl_llm_judge, spartqa: one of the options, in the place that the server reads."""
    mode = task.get("grading_mode")
    choices = merged(task["options"])
    if task.get("target") is not None and isinstance(choices, list):
        return _label(task, choices, text)
    reference = {"choices": choices, "answer": task.get("expected_answer")}
    if mode is None:
        return [MultipleChoice(weight=1.0)], reference, text
    if mode == "strict" and task.get("instance_id") is not None:
        return _in_solution(task, text)
    if mode not in MCQA_SOURCES:
        raise OtherRule(f"`grading_mode` {str(mode)[:50]!r} is not served with `options`")
    if mode == "strict_single_letter_boxed":
        reference["choices"] = dict.fromkeys(reference["choices"] or {}, "")
    return [MultipleChoice(weight=1.0, extract=MCQA_SOURCES[mode])], reference, text


def tagged_choice(task: GymTask, text: str) -> TaskPlan:
    """bunsenbench_chemistry_mcq: the letter or the text of an option in the last `<choice>`."""
    choices = _lettered(task)
    inside = _in_tags(text, "choice")
    letters = [one for one, option in choices.items() if inside in (one, option)]
    return _boxed(choices, task.get("expected_answer"), letters)


def judgement(task: GymTask, text: str) -> TaskPlan:
    """math_proof_judgement: `Judgement: Yes` or `No`; both are none."""
    wanted = _judged(str(task["expected_judgement"])[:MAX_LABEL_CHARACTERS])
    if len(wanted) != 1:
        raise OtherRule("`expected_judgement` that is neither yes nor no is not served")
    return _boxed({"Y": "", "N": ""}, wanted[0], _judged(text.rpartition("</think>")[2]))


def _judged(text: str) -> list[str]:
    """The different judgements of a text, Y and N."""
    return sorted({found[0].upper() for found in _JUDGEMENT.findall(text)})


def _in_solution(task: GymTask, text: str) -> TaskPlan:
    """swerl_llm_judge: one letter in the last `<solution>`."""
    choices = _lettered(task)
    inside = _in_tags(text, "solution").strip("[]").strip().upper()
    return _boxed(choices, task.get("expected_answer"), [inside] if inside in choices else [])


def _in_tags(text: str, name: str) -> str:
    """The content of the last tag; empty where none is closed."""
    inside = text.rpartition(f"<{name}>")[2].partition(f"</{name}>")
    return inside[0].strip() if f"<{name}>" in text and inside[1] else ""


def _lettered(task: GymTask) -> Mapping[str, Any]:
    choices = merged(task["options"])
    if not isinstance(choices, Mapping):
        raise OtherRule("`options` of this form are not served")
    return choices


def _boxed(choices: Mapping[str, Any], wanted: Any, found: list[str]) -> TaskPlan:
    """The plan for a choice that was found; several, or none, are no answer."""
    reference = {"choices": dict.fromkeys(choices, ""), "answer": wanted}
    verifier = MultipleChoice(weight=1.0, extract=("boxed",))
    return [verifier], reference, f"\\boxed{{{found[0]}}}" if len(found) == 1 else ""


def _label(task: GymTask, given: list[Any], text: str) -> TaskPlan:
    """spartqa: an option, both of them or none of them, after `Final answer:`."""
    texts = [one for one in given if isinstance(one, str) and len(one) <= MAX_LABEL_CHARACTERS]
    if len(texts) != len(given) or len(texts) > MAX_LABELS:
        raise OtherRule(f"`options` other than up to {MAX_LABELS} texts are not served")
    labels = list(dict.fromkeys(_words(one) for one in (*texts, BOTH, NEITHER)))
    letters = {label: chr(ord("A") + index) for index, label in enumerate(labels)}
    wanted = letters.get(_words(str(task["target"])[:MAX_LABEL_CHARACTERS]))
    if wanted is None:
        raise OtherRule("`target` that is none of the `options` is not served")
    said = _FINAL_ANSWER.findall(text)
    found = _labels_in(_words(said[-1][:MAX_LABEL_CHARACTERS]) if said else "", labels)
    return _boxed(dict.fromkeys(letters.values()), wanted, [letters[one] for one in found])


def _labels_in(said: str, labels: list[str]) -> list[str]:
    """The labels that an answer is, or has; one within another is the other."""
    for label, others in SAME_LABELS.items():
        said = label if said in others else said
    if said in labels:
        return [said]
    found = [one for one in labels if f" {one} " in f" {said} "]
    return [one for one in found if not any(one != other and one in other for other in found)]


def _words(text: str) -> str:
    """The words of a label without case, signs and a leading article."""
    found = re.findall(r"\w+", text.lower())
    return " ".join(found[1:] if found[:1] and found[0] in ("a", "an", "the") else found)


def merged(options: Any) -> Any:
    """NeMo Gym's options, `[{"A": "Paris"}, {"B": "Rome"}]`, as one object.

    Options of which two have one letter stay as they are, for the verifier to refuse.
    """
    if isinstance(options, list) and all(isinstance(option, dict) for option in options):
        found = {letter: text for option in options for letter, text in option.items()}
        return found if len(found) == sum(map(len, options)) else options
    return options
