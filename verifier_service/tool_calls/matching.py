"""Calls compared with wanted ones: names, arguments, and how many of them meet."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from verifier_service.difference import ABSENT, difference
from verifier_service.tool_calls.call import ToolCall, WrittenValue

Strings = Literal["exact", "bfcl"]
# Signs that BFCL leaves out of texts: the comma, blank and dash of `New York, N-Y`.
_LEFT_OUT = re.compile(r"[ ,./\-_*^]")


@dataclass(frozen=True)
class WantedCall:
    """A call that a completion should make."""

    name: str
    accepted: Mapping[str, Sequence[Any]]
    """Acceptable values of each argument."""
    optional: frozenset[str] = frozenset()
    """Arguments that may be left out."""


@dataclass(frozen=True)
class Tool:
    """The part of a tool's schema that comparing needs."""

    names: tuple[str, ...] = ()
    """Its parameters, in order."""
    required: frozenset[str] = frozenset()
    defaults: Mapping[str, Any] = field(default_factory=dict)


NO_TOOL = Tool()
"""A tool whose schema is not given."""


def named(call: ToolCall, tool: Tool) -> Mapping[str, Any] | None:
    """The arguments by name; None where positional ones have none, or one is given twice."""
    if not call.positional:
        return call.arguments
    names = tool.names[: len(call.positional)]
    if len(names) < len(call.positional) or set(names) & call.arguments.keys():
        return None
    return {**dict(zip(names, call.positional, strict=True)), **call.arguments}


def is_met(call: ToolCall, wanted: WantedCall, tool: Tool, strings: Strings) -> bool:
    """Whether a call is the wanted one: its name, and every argument."""
    if call.name != wanted.name:
        return False
    arguments = named(call, tool)
    return arguments is not None and wrong_argument(arguments, wanted, tool, strings) is None


def wrong_argument(
    arguments: Mapping[str, Any], wanted: WantedCall, tool: Tool, strings: Strings
) -> str | None:
    """The first argument that has another value, is missing or is one too many; None: none is."""
    for name, accepted in wanted.accepted.items():
        if name in arguments:
            if not _is_one_of(arguments[name], accepted, strings):
                return name
        elif name not in wanted.optional and not _is_default(name, accepted, tool, strings):
            return name
    for name, value in arguments.items():
        given = value.values() if isinstance(value, WrittenValue) else [value]
        if name not in wanted.accepted and not _is_default(name, given, tool, strings):
            return name
    return None


def call_difference(
    call: ToolCall, wanted: WantedCall, tool: Tool, strings: Strings
) -> dict[str, Any]:
    """The first difference of a call that has the wanted name and is not met."""
    arguments = named(call, tool)
    if arguments is None:
        given = [*call.positional, *call.arguments.values()]
        return difference([wanted.name], wanted.accepted, given)
    name = wrong_argument(arguments, wanted, tool, strings)
    if name is None:
        return {}
    accepted = wanted.accepted.get(name, ABSENT)
    if isinstance(accepted, Sequence) and len(accepted) == 1:
        accepted = accepted[0]
    return difference([wanted.name, name], accepted, arguments.get(name, ABSENT))


def first_difference(
    given: Sequence[ToolCall],
    wanted: Sequence[WantedCall],
    edges: Sequence[Sequence[int]],
    tools: Mapping[str, Tool],
    strings: Strings,
) -> dict[str, Any]:
    """The first wanted call that none meets, else the first call that meets none.

    Args:
        given: calls of the completion.
        wanted: calls of the reference.
        edges: for each wanted call the places of those that meet it.
        tools: schemas by name.
        strings: how texts are compared.

    Returns:
        Details of the verdict; empty where only the number of equal calls differs.
    """
    meeting = {place for edge in edges for place in edge}
    rest = [call for place, call in enumerate(given) if place not in meeting]
    for place, (one, edge) in enumerate(zip(wanted, edges, strict=True)):
        if not edge:
            same_name = [call for call in rest if call.name == one.name]
            if not same_name:
                # The name is the reference's, and a path is always shown.
                missing = {"name": one.name, "arguments": one.accepted}
                return difference([place], wanted=missing)
            return call_difference(same_name[0], one, tools.get(one.name, NO_TOOL), strings)
    return difference([rest[0].name], given=rest[0].arguments) if rest else {}


def _is_default(name: str, values: Sequence[Any], tool: Tool, strings: Strings) -> bool:
    """Whether leaving an argument out is the same as one of these values."""
    return (
        name in tool.names
        and name not in tool.required
        and name in tool.defaults
        and _is_one_of(tool.defaults[name], values, strings)
    )


def _is_one_of(value: Any, accepted: Sequence[Any], strings: Strings) -> bool:
    if isinstance(value, WrittenValue):
        return any(_is_one_of(one, accepted, strings) for one in value.values())
    for one in accepted:  # noqa: SIM110  half the time of `any`
        if is_equal(value, one, strings):
            return True
    return False


def is_equal(one: Any, other: Any, strings: Strings = "exact") -> bool:
    """Whether two JSON values are equal; 5 and 5.0 are, 1 and true are not.

    >>> is_equal({"a": [1, 2.0]}, {"a": [1.0, 2]}), is_equal(1, True)
    (True, False)
    >>> is_equal("a b", "A-B"), is_equal("a b", "A-B", "bfcl")
    (False, True)
    """
    if type(one) is str and type(other) is str:
        return one == other or (strings == "bfcl" and _standard(one) == _standard(other))
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or (
            isinstance(one, float)
            and isinstance(other, float)
            and math.isclose(one, other, rel_tol=1e-12)
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            is_equal(a, b, strings) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(
            is_equal(one[key], other[key], strings) for key in one
        )
    return one is None and other is None


def _standard(text: str) -> str:
    """A text as BFCL compares it: in lower case, with one kind of quotes and without some signs."""
    return _LEFT_OUT.sub("", text).lower().replace("'", '"')


def toolrl_share(
    given: Sequence[ToolCall], wanted: Sequence[WantedCall], strings: Strings
) -> float:
    """ToolRL's correctness (arXiv 2504.13958) between 0 and 1; its reward is 6 * share - 3.

    Names count by the intersection of both multisets over their union. Each wanted call takes the
    given call of its name that fits best, with a point for the share of common argument names and
    one for each equal value.

    ToolRL's own code lets surplus calls cost a part of the point for names only, so that a model
    gains by calling a tool with every value. Here the points of arguments are multiplied by the
    wanted calls over the given ones, where more are given than wanted.
    """
    if not wanted:
        return float(not given)
    names = Counter(call.name for call in given), Counter(one.name for one in wanted)
    name_points = (names[0] & names[1]).total() / (names[0] | names[1]).total()
    points, most, left = 0.0, 1.0, list(given)
    for one in wanted:
        most += 1 + len(one.accepted)
        fits = [(_fit(call, one, strings), -place) for place, call in enumerate(left)]
        best, place = max(fits, default=(0.0, 0))
        if best > 0:
            points += best
            left.pop(-place)
    return (name_points + points * len(wanted) / max(len(wanted), len(given))) / most


def _fit(call: ToolCall, wanted: WantedCall, strings: Strings) -> float:
    if call.name != wanted.name:
        return 0.0
    union = call.arguments.keys() | wanted.accepted.keys()
    common = call.arguments.keys() & wanted.accepted.keys()
    equal = sum(_is_one_of(call.arguments[name], wanted.accepted[name], strings) for name in common)
    return (len(common) / len(union) if union else 1.0) + equal
