"""`tool_calls`: does the completion call the tools that it should, with the right arguments?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.answer_text import after_reasoning, without_end_tokens
from verifier_service.completion import Completion
from verifier_service.difference import REVEAL_EXPECTED_DESCRIPTION, without_wanted
from verifier_service.instructions.visible import is_blank
from verifier_service.largest_matching import largest_matching
from verifier_service.reason import Reason
from verifier_service.reference import bad, kind, missing
from verifier_service.tool_calls.call import MAX_CALLS, BadCall, ToolCall, call_of, parsed
from verifier_service.tool_calls.matching import (
    NO_TOOL,
    Strings,
    Tool,
    WantedCall,
    first_difference,
    is_met,
    toolrl_share,
)
from verifier_service.tool_calls.model_forms import with_calls_of_gpt_oss
from verifier_service.tool_calls.reading import CallForm, calls_in, refuse_other_forms
from verifier_service.verifier import Judge, Judgement, TextVerifier

MAX_SHOWN_CALLS = 8
MAX_NAME_CHARACTERS = 60


class ToolCallsReason(Reason):
    """Reasons of `tool_calls`."""

    EQUAL = "equal", "1: the calls are the wanted ones; no call where none is wanted."
    DIFFERENT = (
        "different",
        "Below 1: a call is missing, wrong or one too many; `details` has the numbers, and the "
        "first difference.",
    )
    OTHER_ORDER = "other_order", "0: the calls are the wanted ones in another order."
    NO_CALL = "no_call", "0: the completion calls nothing, and a call is wanted."
    UNWANTED_CALL = "unwanted_call", "0: the completion calls a tool, and no call is wanted."
    MALFORMED = (
        "malformed",
        "0: something is meant to be a call and is none, or has a form that is not read.",
    )
    NO_ANSWER = (
        "no_answer",
        "0: the reasoning never ends, or the answer is empty where no call is wanted.",
    )


class ToolCalls(TextVerifier):
    """1 if the completion makes the wanted calls, else 0 or the share of them."""

    purpose: ClassVar[str] = (
        "1 if the completion's calls of tools are those of reference.tool_calls (a list of "
        "{name, arguments}, where `accepted` with lists of values may stand for `arguments`; an "
        "empty list where no call is wanted), else 0 or a share; reference.tools, their schemas, "
        "tells defaults. Nothing is ever called"
    )
    needs: ClassVar[tuple[str, ...]] = ("tool_calls",)
    reasons: ClassVar[Iterable[Reason]] = ToolCallsReason

    type: Literal["tool_calls"] = "tool_calls"
    form: CallForm = Field(
        default="auto",
        description="tagged: JSON in <tool_call>, which a message's `tool_calls` become too; json: "
        "an object or a list that is the whole answer; python: f(a=1) or a list of such calls; "
        "auto: the first of these, or of the forms of single models, that the answer has",
    )
    scoring: Literal["all", "f1", "toolrl"] = Field(
        default="all",
        description="all: 1 or 0; f1: of the calls that meet a wanted one; toolrl: ToolRL's points "
        "for names, argument names and values, as a share (its reward is 6 * score - 3)",
    )
    order_matters: bool = Field(default=False, description="whether the calls have an order")
    strings: Strings = Field(
        default="exact",
        description="bfcl: texts are equal without case, blanks and some signs, and names with `_` "
        "for a point, as in BFCL",
    )
    reveal_expected: bool = Field(default=False, description=REVEAL_EXPECTED_DESCRIPTION)

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        wanted = [replace(one, name=self._name(one.name)) for one in _wanted(reference)]
        tools = {self._name(name): tool for name, tool in _tools(reference.get("tools")).items()}

        def judge(completion: Completion) -> Judgement:
            answer = after_reasoning(with_calls_of_gpt_oss(completion.text))
            if answer is None:
                return Judgement(0.0, ToolCallsReason.NO_ANSWER)
            try:
                given = calls_in(answer, self.form)
                given = [one._replace(name=self._name(one.name)) for one in given]
                if not given:
                    refuse_other_forms(answer, tools)
            except BadCall as error:
                return Judgement(0.0, ToolCallsReason.MALFORMED, details={"problem": str(error)})
            if not wanted and is_blank(without_end_tokens(answer)):
                return Judgement(0.0, ToolCallsReason.NO_ANSWER)
            return self._judgement(given, wanted, tools)

        return judge

    def _name(self, name: str) -> str:
        """A name as it is compared: APIs take no points, so models call `math.gcd` `math_gcd`."""
        return name.replace(".", "_") if self.strings == "bfcl" else name

    def _judgement(
        self, given: Sequence[ToolCall], wanted: Sequence[WantedCall], tools: Mapping[str, Tool]
    ) -> Judgement:
        shown = _shown(given)
        if not wanted:
            if given:
                return Judgement(0.0, ToolCallsReason.UNWANTED_CALL, shown)
            return Judgement(1.0, ToolCallsReason.EQUAL)
        if not given:
            return Judgement(0.0, ToolCallsReason.NO_CALL)
        if len(given) == len(wanted) == 1:  # most completions: nothing is to be paired
            tool = tools.get(given[0].name, NO_TOOL)
            if is_met(given[0], wanted[0], tool, self.strings):
                return Judgement(
                    1.0, ToolCallsReason.EQUAL, shown, {"met": 1, "wanted": 1, "given": 1}
                )
        edges = [
            [
                place
                for place, call in enumerate(given)
                if is_met(call, one, tools.get(call.name, NO_TOOL), self.strings)
            ]
            for one in wanted
        ]
        number = largest_matching(edges)
        details: dict[str, Any] = {"met": number, "wanted": len(wanted), "given": len(given)}
        if number == len(wanted) == len(given):
            in_order = all(place in edge for place, edge in enumerate(edges))
            if self.order_matters and not in_order:
                return Judgement(0.0, ToolCallsReason.OTHER_ORDER, shown, details)
            return Judgement(1.0, ToolCallsReason.EQUAL, shown, details)
        score = self._share(given, wanted, number)
        details |= first_difference(given, wanted, edges, tools, self.strings)
        if not self.reveal_expected:
            details = without_wanted(details)
        return Judgement(score, ToolCallsReason.DIFFERENT, shown, details)

    def _share(self, given: Sequence[ToolCall], wanted: Sequence[WantedCall], number: int) -> float:
        """The score of calls that are not the wanted ones."""
        if self.scoring == "f1":
            return 2 * number / (len(given) + len(wanted))
        if self.scoring == "toolrl":
            return toolrl_share(given, wanted, self.strings)
        return 0.0


def _shown(given: Sequence[ToolCall]) -> str:
    """The names of the calls."""
    if len(given) == 1:
        return given[0].name[:MAX_NAME_CHARACTERS]
    return ", ".join([call.name[:MAX_NAME_CHARACTERS] for call in given[:MAX_SHOWN_CALLS]])


def _wanted(reference: Mapping[str, Any]) -> list[WantedCall]:
    """The wanted calls of a reference. Raises Unverifiable."""
    given = reference.get("tool_calls")
    if given is None:
        raise missing("tool_calls", reference)
    try:
        values = parsed(given) if isinstance(given, str) else given
        if not isinstance(values, list) or len(values) > MAX_CALLS:
            raise BadCall(f"found {kind(values)}, expected a list of at most {MAX_CALLS} calls")
        return [_wanted_call(one) for one in values]
    except BadCall as error:
        raise bad("tool_calls", str(error)) from error


def _wanted_call(value: Any) -> WantedCall:
    """A wanted call: with arguments, with acceptable values, or as BFCL's ground truth.

    BFCL's `{"add": {"a": [1], "b": [2, ""]}}` has lists of values; "" among them: may be left out.
    """
    if isinstance(value, Mapping) and len(value) == 1 and "name" not in value:
        ((name, accepted),) = value.items()
        if name not in ("function", "arguments", "parameters"):
            return _with_accepted(name, accepted, is_bfcl=True)
    if isinstance(value, Mapping) and ("accepted" in value or value.get("optional")):
        return _call_with_choices(value)
    call = call_of(value)
    return WantedCall(call.name, {name: [one] for name, one in call.arguments.items()})


def _call_with_choices(value: Mapping[str, Any]) -> WantedCall:
    """A wanted call with `accepted` values, of which those of `optional` may be left out."""
    if not isinstance(value.get("name"), str):
        raise BadCall("a call has a `name`")
    if "accepted" not in value:
        raise BadCall("`optional` names keys of `accepted`, which is missing")
    if given := sorted({"arguments", "parameters"} & value.keys()):
        raise BadCall(f"`accepted` stands for `{given[0]}`: found both, expected one of them")
    optional = value.get("optional", [])
    if not isinstance(optional, list):
        raise BadCall("`optional` is a list of names")
    with_values = _with_accepted(value["name"], value["accepted"], is_bfcl=False)
    unknown = [name for name in map(str, optional) if name not in with_values.accepted]
    if unknown:
        raise BadCall(f"`optional` names keys of `accepted`, where {unknown[0][:60]!r} is missing")
    return WantedCall(with_values.name, with_values.accepted, frozenset(map(str, optional)))


def _with_accepted(name: str, accepted: Any, *, is_bfcl: bool) -> WantedCall:
    if not isinstance(accepted, Mapping) or not all(
        isinstance(values, list) and values for values in accepted.values()
    ):
        raise BadCall("acceptable values are an object of lists that are not empty")
    if not is_bfcl:
        return WantedCall(name, dict(accepted))
    optional = frozenset(key for key, values in accepted.items() if "" in values)
    return WantedCall(name, {key: _bfcl_values(one) for key, one in accepted.items()}, optional)


def _bfcl_values(values: Sequence[Any]) -> list[Any]:
    """Acceptable values; those of an object stand in lists of their own in BFCL."""
    found: list[Any] = []
    for one in values:
        found += _bfcl_choices(one)
    return found


def _bfcl_choices(value: Any) -> list[Any]:
    """The values for which an acceptable one stands: objects, or lists of objects, of choices.

    >>> _bfcl_choices([{"field": ["age"], "value": [25, "25"]}])
    [[{'field': 'age', 'value': 25}], [{'field': 'age', 'value': '25'}]]
    """
    if isinstance(value, Mapping) and all(isinstance(one, list) and one for one in value.values()):
        choices = _products([[(key, one) for one in some] for key, some in value.items()])
        return [{key: one for key, one in pairs if one != ""} for pairs in choices]
    if isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        return _products([_bfcl_choices(one) for one in value])
    return [value]


def _products(choices: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """The lists that take one of each of the choices. Raises BadCall where these are many."""
    if prod(map(len, choices)) > MAX_CALLS:
        raise BadCall("too many acceptable objects")
    return [list(one) for one in product(*choices)]


def _tools(given: Any) -> dict[str, Tool]:
    """The tools of a reference by name; schemas that cannot be read tell nothing."""
    try:
        values = parsed(given) if isinstance(given, str) else given
    except BadCall as error:
        raise bad("tools", str(error)) from error
    if values is None:
        return {}
    if not isinstance(values, list):
        raise bad("tools", f"found {kind(values)}, expected a list of schemas")
    found = {}
    for value in values:
        inside = value.get("function", value) if isinstance(value, Mapping) else None
        if not isinstance(inside, Mapping) or not isinstance(inside.get("name"), str):
            raise bad("tools", "each has a `name` and `parameters`")
        found[inside["name"]] = _tool(inside.get("parameters"))
    return found


def _tool(parameters: Any) -> Tool:
    parameters = parameters if isinstance(parameters, Mapping) else {}
    properties = parameters.get("properties")
    # xLAM's tools have their parameters without a schema around them.
    properties = properties if isinstance(properties, Mapping) else parameters
    required = parameters.get("required")
    defaults = {
        name: one["default"]
        for name, one in properties.items()
        if isinstance(one, Mapping) and "default" in one
    }
    names = frozenset(map(str, required)) if isinstance(required, list) else frozenset()
    return Tool(tuple(properties), names, defaults)
