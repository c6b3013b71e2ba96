"""Calls compared with wanted ones: names, arguments, and how many of them meet."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from verifier_service.tool_calls.call import ToolCall

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
    if arguments is None:
        return False
    for name, accepted in wanted.accepted.items():
        if name in arguments:
            if not _is_one_of(arguments[name], accepted, strings):
                return False
        elif name not in wanted.optional and not _is_default(name, accepted, tool, strings):
            return False
    return all(
        name in wanted.accepted or _is_default(name, [value], tool, strings)
        for name, value in arguments.items()
    )


def _is_default(name: str, values: Sequence[Any], tool: Tool, strings: Strings) -> bool:
    """Whether leaving an argument out is the same as one of these values."""
    return (
        name in tool.names
        and name not in tool.required
        and name in tool.defaults
        and _is_one_of(tool.defaults[name], values, strings)
    )


def _is_one_of(value: Any, accepted: Sequence[Any], strings: Strings) -> bool:
    return any(is_equal(value, one, strings) for one in accepted)


def is_equal(one: Any, other: Any, strings: Strings = "exact") -> bool:
    """Whether two JSON values are equal; 5 and 5.0 are, 1 and true are not.

    >>> is_equal({"a": [1, 2.0]}, {"a": [1.0, 2]}), is_equal(1, True)
    (True, False)
    >>> is_equal("a b", "A-B"), is_equal("a b", "A-B", "bfcl")
    (False, True)
    """
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return one == other or (
            isinstance(one, float)
            and isinstance(other, float)
            and math.isclose(one, other, rel_tol=1e-12)
        )
    if isinstance(one, str) and isinstance(other, str):
        return one == other if strings == "exact" else _standard(one) == _standard(other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            is_equal(a, b, strings) for a, b in zip(one, other, strict=True)
        )
    if isinstance(one, Mapping) and isinstance(other, Mapping):
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

    Names count by the share of them that both sides have; then each wanted call takes the given
    call that fits best, with a point for the share of common argument names and one for each equal
    value.
    """
    names = [one.name for one in given], [one.name for one in wanted]
    common, union = set(names[0]) & set(names[1]), set(names[0]) | set(names[1])
    points = len(common) / len(union) if union else 1.0
    most = 1.0
    left = list(given)
    for one in wanted:
        most += 1 + len(one.accepted)
        fits = [(_fit(call, one, strings), -place) for place, call in enumerate(left)]
        if fits:
            best, place = max(fits)
            points += best
            left.pop(-place)
    return points / most


def _fit(call: ToolCall, wanted: WantedCall, strings: Strings) -> float:
    if call.name != wanted.name:
        return 0.0
    union = call.arguments.keys() | wanted.accepted.keys()
    common = call.arguments.keys() & wanted.accepted.keys()
    equal = sum(_is_one_of(call.arguments[name], wanted.accepted[name], strings) for name in common)
    return (len(common) / len(union) if union else 1.0) + equal
