"""Tasks of NeMo Gym's resource servers: the verifier whose rule is the task's own.

A task does not name its server, only its fields. Fields that belong to one rule choose it; fields
of a rule that is not served here refuse the task by name, because another rule would give a
reward that looks right.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from verifier_service.compat import nemo_gym_choices as choices
from verifier_service.compat.nemo_gym_plan import GymTask, OtherRule, TaskPlan
from verifier_service.compat.rule_fields import rule_fields
from verifier_service.mathematics.answer_sources import Source
from verifier_service.puzzles.schedule import DAY_MINUTES, minutes_of
from verifier_service.reference_formats.json_values import json_value
from verifier_service.verifiers.accuracy import Accuracy
from verifier_service.verifiers.citations import Citations
from verifier_service.verifiers.code import Code
from verifier_service.verifiers.exact_match import ExactMatch
from verifier_service.verifiers.instruction_following import InstructionFollowing
from verifier_service.verifiers.multiple_choice import MultipleChoice
from verifier_service.verifiers.puzzle import Puzzle
from verifier_service.verifiers.reasoning_gym import ReasoningGym
from verifier_service.verifiers.regex import Regex
from verifier_service.verifiers.string_similarity import StringSimilarity
from verifier_service.verifiers.structured_output import StructuredOutput
from verifier_service.verifiers.tool_calls import ToolCalls

UNSERVED_RULES = (
    "rubric",
    "rubrics",
    "rubric_json",
    "follow_ups",
    "llm_judge",
    "template_metadata",
    "harness",
    "declared_tools",
    "tool_family",
    "property_type",
    "use_box_format",
    "threshold",
    "hallucination_rubric",
    "judge_prompt",
    "n_choices_required",
)
"""Fields of tasks whose rule is not served here, or needs a model."""
MATH_TYPES = ("math_with_judge",)
"""Values of `verifier_type` that are `accuracy`."""
CALL_TAG = "\n<tool_call>\n"


MAX_LINES = 10_000


def plan_for(task: GymTask, text: str, calls: str) -> TaskPlan | None:
    """The verifiers that implement a task's rule; None where its fields name no rule of their own.

    Args:
        task: its fields, those of `verifier_metadata` included.
        text: of the model's messages.
        calls: the same with its calls of tools in tags.

    Raises:
        OtherRule: no verifier implements the task's rule.
    """
    unknown = [name for name in UNSERVED_RULES if task.get(name) is not None]
    if unknown:
        raise OtherRule(f"tasks with {unknown} are not served")
    unread = rule_fields(task, _read_of(task))
    if unread:
        raise OtherRule(f"the fields {unread[:5]} name a rule that is not read")
    verifier_type = task.get("verifier_type")
    if verifier_type is not None and verifier_type not in MATH_TYPES:
        raise OtherRule(f"`verifier_type` {str(verifier_type)[:50]!r} is not served")
    metadata = task.get("metadata")
    if isinstance(metadata, Mapping) and task.get("options") is None:
        if metadata.get("source_dataset") is not None:
            return _reasoning_gym(task, text)
    elif isinstance(metadata, Mapping) and metadata.get("bct_field") is not None:
        return choices.tagged_choice(task, text)
    if task.get("target_color") is not None and task.get("tools"):
        return _click(task, calls.removeprefix(text))
    for field, plan in _PLANS.items():
        if task.get(field) is not None:
            return plan(task, calls if plan in _OF_CALLS else text)
    if task.get("grading_mode") is not None:
        raise OtherRule(f"`grading_mode` {str(task['grading_mode'])[:50]!r} is not served")
    return None


def _read_of(task: GymTask) -> frozenset[str]:
    """The fields that name a rule and are read where they stand together."""
    beside = (names for field, names in _READ_BESIDE.items() if task.get(field) is not None)
    return frozenset({*_PLANS, "grading_mode", "verifier_type"}).union(*beside)


def _programs(task: GymTask, text: str) -> TaskPlan:
    return [Code(weight=1.0)], {"tests": dict(task["unit_tests"])}, text


def _instructions(task: GymTask, text: str) -> TaskPlan:
    mode = task.get("grading_mode", "binary")
    if mode not in ("binary", "fraction"):
        raise OtherRule(f"`grading_mode` {str(mode)[:50]!r} is not served; binary and fraction are")
    verifier = InstructionFollowing(weight=1.0, scoring="all" if mode == "binary" else "fraction")
    fields = {name: task.get(name) for name in ("instruction_id_list", "kwargs")}
    return [verifier], fields, text


def _schema(task: GymTask, text: str) -> TaskPlan:
    if task.get("response_mode", "text") != "text":
        raise OtherRule(f"`response_mode` {str(task['response_mode'])[:50]!r} is not served")
    kind = task.get("schema_type", "json")
    if kind not in ("json", "yaml", "xml", "toml", "csv"):
        raise OtherRule(f"`schema_type` {str(kind)[:50]!r} is not served")
    return [StructuredOutput(weight=1.0, format=kind)], {"schema": task["schema_str"]}, text


def _needles(task: GymTask, text: str) -> TaskPlan:
    """MRCR: the ratio of difflib, behind a random prefix."""
    prefix = task.get("random_string_to_prepend", "")
    reference = {"answer": task.get("expected_answer"), "prefix": prefix}
    return [StringSimilarity(weight=1.0, part="completion")], reference, text


def _graph(task: GymTask, text: str) -> TaskPlan:
    """GraphWalks: F1 of the nodes; its sibling takes overlap with the reasoning off."""
    if task.get("source") is not None:
        raise OtherRule("tasks with `problem_type` and `source` are not served")
    if task["problem_type"] not in ("bfs", "parents"):
        raise OtherRule(f"`problem_type` {str(task['problem_type'])[:50]!r} is not served")
    last = text.strip().rpartition("\n")[2]
    is_final = "Final Answer:" in last
    reference = {"answer": task.get("expected_answer")}
    return [StringSimilarity(weight=1.0, metric="set_f1")], reference, last if is_final else ""


def _retrieval(task: GymTask, text: str) -> TaskPlan:
    """RULER: the share of the wanted texts in the answer, or whether it has one of them."""
    if task.get("eval_type") == "multichoice":
        letters = dict.fromkeys("ABCDEFGHIJ", "")
        reference = {"choices": letters, "answer": task.get("expected_answer")}
        return [MultipleChoice(weight=1.0, extract=("boxed",))], reference, text
    kind = task["match_type"]
    if kind not in ("all", "part"):
        raise OtherRule(f"`match_type` {str(kind)[:50]!r} is not served; all and part are")
    if task.get("eval_type", "ruler2") != "ruler2":
        raise OtherRule(f"`eval_type` {str(task['eval_type'])[:50]!r} is not served; ruler2 is")
    some = 1e-9 if kind == "part" else None
    verifier = StringSimilarity(
        weight=1.0, metric="contains", case_sensitive=False, part="completion", threshold=some
    )
    return [verifier], {"answer": task.get("expected_answer")}, text


def _ruler(task: GymTask, text: str) -> TaskPlan:
    """ruler: the share of the wanted texts in the answer, or one of them for questions."""
    if task.get("outputs") is None:
        raise OtherRule("`subset` without `outputs` is not served")
    some = 1e-9 if task["subset"] in ("qa_1", "qa_2") else None
    verifier = StringSimilarity(
        weight=1.0, metric="contains", case_sensitive=False, part="completion", threshold=some
    )
    return [verifier], {"answer": task["outputs"]}, text


def _tool_call(task: GymTask, calls: str) -> TaskPlan:
    action = task["expected_action"]
    if not isinstance(action, Mapping) or action.get("type") not in ("function_call", "message"):
        raise OtherRule("`expected_action` of this type is not served")
    wanted = [action] if action["type"] == "function_call" else []
    return [ToolCalls(weight=1.0, form="tagged")], {"tool_calls": wanted}, calls


def _reasoning_gym(task: GymTask, text: str) -> TaskPlan:
    entry = {name: task.get(name) for name in ("question", "answer", "metadata")}
    return [ReasoningGym(weight=1.0)], {"entry": entry}, text


def _arc(task: GymTask, text: str) -> TaskPlan:
    """arc_agi and nvarc: the grid itself, or a program whose `transform` makes it."""
    mode = task.get("agent_mode")
    if mode == "inductive":
        case = {"args": [task.get("test_input")], "returns": task["expected_output"]}
        tests = {"type": "function", "entry_point": "transform", "cases": [case]}
        return [Code(weight=1.0)], {"tests": tests}, text
    if mode not in (None, "transductive"):
        raise OtherRule(
            f"`agent_mode` {str(mode)[:50]!r} is not served; transductive and inductive are"
        )
    return [Puzzle(weight=1.0)], {"puzzle": "grid", "grid": task["expected_output"]}, text


def _point(task: GymTask, text: str) -> TaskPlan:
    """gui_coordinate: a point in thousandths, in its tag, near the expected one."""
    reference = {
        "puzzle": "point",
        "point": f"[{task.get('expected_answer', '')}]",
        "max_distance": task["max_dist"],
        "scale": 1000,
        "tagged": True,
    }
    return [Puzzle(weight=1.0, scoring="parts")], reference, text


def _named_rule(task: GymTask, calls: str) -> TaskPlan:
    """citation_if and format_verification: the rule that `verifier.type` names."""
    rule = task["verifier"]
    found = rule.get("type") if isinstance(rule, Mapping) else rule
    if isinstance(rule, Mapping) and found == "citation_if":
        return _citations(rule, calls)
    if isinstance(rule, Mapping) and found in ("regex", "inline_prose"):
        return _lines(rule, calls.partition(CALL_TAG)[0])
    raise OtherRule(f"`verifier` {str(found)[:50]!r} is not served; citation_if and regex are")


def _lines(rule: GymTask, text: str) -> TaskPlan:
    """format_verification: so many lines that match one of the patterns."""
    given, number = rule.get("verify_regex"), rule.get("verify_min_matches", 1)
    if not isinstance(given, list) or not all(isinstance(one, str) for one in given):
        raise OtherRule("`verifier` without a list `verify_regex` is not served")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= MAX_LINES:
        raise OtherRule(f"`verify_min_matches` outside 1 to {MAX_LINES} is not served")
    pattern = "|".join(f"(?:{one})" for one in given)
    return [Regex(weight=1.0, min_lines=number, part="completion")], {"pattern": pattern}, text


def _citations(rule: GymTask, calls: str) -> TaskPlan:
    """citation_if: sources in the wanted form, by an answer that calls nothing."""
    reference = {
        "form": rule.get("grammar"),
        "id_pattern": rule.get("id_regex"),
        "attempt_pattern": "(?i)citation_[a-z0-9_:]+",
        "valid": rule.get("valid_id_set") or [],
        "expected": rule.get("expected_ids"),
        "slack": rule.get("expected_slack", 1),
        "min": rule.get("min_valid_citations", 1),
        "wanted": rule.get("mode", "cite") == "cite",
    }
    text = "" if "<tool_call>" in calls else calls
    return [Citations(weight=1.0, part="completion")], {"citations": reference}, text


def _extracted(task: GymTask, text: str) -> TaskPlan:
    """string_match: the answer stands in a box, after `Answer:`, on the last line, or is all."""
    mode = task["extraction_mode"]
    if mode not in ("boxed", "final_answer", "last_line", "full_response"):
        raise OtherRule(f"`extraction_mode` {str(mode)[:50]!r} is not served")
    reference = {"answer": task.get("expected_answer")}
    if mode in ("boxed", "final_answer") and not task.get("case_sensitive"):
        places: tuple[Source, ...] = ("boxed",) if mode == "boxed" else ("answer_phrase", "boxed")
        return [Accuracy(weight=1.0, extract=places)], reference, text
    if mode in ("boxed", "final_answer"):
        raise OtherRule(f"`extraction_mode` {mode!r} with `case_sensitive` is not served")
    part = text.strip().rpartition("\n")[2] if mode == "last_line" else text
    exact = ExactMatch(
        weight=1.0, part="completion", case_sensitive=bool(task.get("case_sensitive"))
    )
    return [exact], reference, part


def _tool_calls(task: GymTask, calls: str) -> TaskPlan:
    """xlam_fc: every wanted call, and no other."""
    wanted = task["expected_answers"]
    return [ToolCalls(weight=1.0, form="tagged")], {"tool_calls": wanted}, calls


def _translation(task: GymTask, text: str) -> TaskPlan:
    """wmt_translation: chrF."""
    verifier = StringSimilarity(weight=1.0, metric="chrf")
    return [verifier], {"answer": task.get("translation")}, text


def _benchmark(task: GymTask, text: str) -> TaskPlan:
    """vlm_eval_kit: OCRBench wants one of the texts in the answer."""
    name = task["benchmark_name"]
    formula = "Handwritten Mathematical Expression Recognition"
    if name != "OCRBench" or task.get("category") == formula:
        raise OtherRule(f"`benchmark_name` {str(name)[:50]!r} is not served; OCRBench's texts are")
    verifier = StringSimilarity(weight=1.0, metric="contains", case_sensitive=False, threshold=1e-9)
    return [verifier], {"answer": task.get("answer")}, text


def _hallucinations(task: GymTask, text: str) -> TaskPlan:
    """ragtruth: an object whose list is empty where nothing is made up, and only there."""
    key = "hallucination list"
    length = {"minItems": 1} if task["is_halu"] else {"maxItems": 0}
    schema = {"type": "object", "required": [key], "properties": {key: {"type": "array", **length}}}
    return [StructuredOutput(weight=1.0)], {"schema": schema}, text


def _circles(task: GymTask, text: str) -> TaskPlan:
    """circle_count: the number of circles of a color, in a box."""
    circles = _circles_of(task)
    number = sum(one.get("color") == task["target_color"] for one in circles)
    return [Accuracy(weight=1.0, extract=("boxed",))], {"answer": str(number)}, text


def _circles_of(task: GymTask) -> list[Mapping[str, Any]]:
    circles = task.get("circles")
    if not isinstance(circles, list) or not all(isinstance(one, Mapping) for one in circles):
        raise OtherRule("`target_color` without `circles` is not served")
    return circles


def _click(task: GymTask, calls: str) -> TaskPlan:
    """circle_click: the first click lies in the first circle of the color."""
    circles = _circles_of(task)
    circle = next((one for one in circles if one.get("color") == task["target_color"]), None)
    radius = circle.get("radius") if circle is not None else None
    if circle is None or not isinstance(radius, int | float):
        raise OtherRule("`target_color` that no circle with a `radius` has is not served")
    reference = {
        "puzzle": "point",
        "point": [circle.get("x"), circle.get("y")],
        "max_distance": math.nextafter(float(radius), math.inf),
    }
    return [Puzzle(weight=1.0)], reference, _clicked(calls.split(CALL_TAG)[1:])


def _clicked(calls: list[str]) -> str:
    """The whole numbers of the first call of `click` as a point, or an empty text."""
    for call in calls:
        given = json.loads(call.partition("</tool_call>")[0])
        if given.get("name") == "click":
            arguments = json_value(given.get("arguments"))
            found = arguments if isinstance(arguments, Mapping) else {}
            x, y = found.get("x"), found.get("y")
            return f"[{x}, {y}]" if type(x) is int and type(y) is int else ""
    return ""


def _events(task: GymTask, text: str) -> TaskPlan:
    """calendar: every event in its window and none beside another."""
    wanted = task["exp_cal_state"]
    if not isinstance(wanted, Mapping) or not all(isinstance(v, Mapping) for v in wanted.values()):
        raise OtherRule("`exp_cal_state` that is no object of events is not served")
    events = [{"id": name, **_window(event)} for name, event in wanted.items()]
    return [Puzzle(weight=1.0)], {"puzzle": "schedule", "events": events}, text


def _window(event: Mapping[str, Any]) -> dict[str, Any]:
    """The times of an event: those of the day, and those that its `constraint` has in words."""
    earliest, latest = event.get("min_time"), event.get("max_time")
    found = {"duration": event.get("duration"), "earliest": earliest, "latest": latest}
    word, _, time = str(event.get("constraint") or "any").partition(" ")
    first, _, last = time.partition(" and ")
    if word == "between":
        return {**found, "earliest": _last(earliest, first), "latest": _first(latest, last)}
    if word == "after":
        return {**found, "earliest": _last(earliest, time)}
    if word == "before":
        return {**found, "latest": _first(latest, time)}
    if word not in ("at", "any"):
        raise OtherRule(f"`exp_cal_state` with the constraint {word[:50]!r} is not served")
    return {**found, "start": time or None}


def _last(one: Any, other: str) -> Any:
    return max(one, other, key=lambda time: minutes_of(time) or 0)


def _first(one: Any, other: str) -> Any:
    return min(one, other, key=lambda time: minutes_of(time) or DAY_MINUTES)


def _result(task: GymTask, text: str) -> TaskPlan:
    """math_with_code: the answer in the last box."""
    return [Accuracy(weight=1.0, extract=("boxed",))], {"answer": task["expected_result"]}, text


def _retrieved(task: GymTask, text: str) -> TaskPlan:
    """equivalence_rule on MRCR: the needle itself, without case and extra white space."""
    if task.get("source") != "mrcr":
        raise OtherRule(f"`hashid` with `source` {str(task.get('source'))[:50]!r} is not served")
    exact = ExactMatch(
        weight=1.0, part="completion", case_sensitive=False, collapse_white_space=True
    )
    return [exact], {"answer": task.get("expected_answer")}, text


_PLANS: dict[str, Callable[[GymTask, str], TaskPlan]] = {
    "unit_tests": _programs,
    "instruction_id_list": _instructions,
    "schema_str": _schema,
    "n_needles": _needles,
    "problem_type": _graph,
    "match_type": _retrieval,
    "expected_action": _tool_call,
    "options": choices.options,
    "expected_output": _arc,
    "max_dist": _point,
    "verifier": _named_rule,
    "subset": _ruler,
    "extraction_mode": _extracted,
    "expected_answers": _tool_calls,
    "target_language": _translation,
    "benchmark_name": _benchmark,
    "is_halu": _hallucinations,
    "target_color": _circles,
    "hashid": _retrieved,
    "expected_judgement": choices.judgement,
    "exp_cal_state": _events,
    "expected_result": _result,
}
"""The plan for the first of these fields that a task has."""


_READ_BESIDE: dict[str, tuple[str, ...]] = {
    "match_type": ("eval_type",),
    "extraction_mode": ("case_sensitive",),
    "schema_str": ("schema_type", "response_mode", "schema_fields_count"),
}
"""Fields that only the plan of another field reads."""

_OF_CALLS = (_tool_call, _tool_calls, _named_rule)
"""Plans that judge the model's calls of tools beside its text."""


def call_in_tags(name: Any, arguments: Any) -> str:
    """A call of the Responses API as `<tool_call>` has it."""
    inside = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"{CALL_TAG}{inside.replace('<', chr(92) + 'u003c')}\n</tool_call>"
