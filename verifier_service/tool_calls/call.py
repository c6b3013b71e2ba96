"""A call of a tool, and how calls are read from JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from verifier_service import strict_json

MAX_CALLS = 128
"""Most calls of a completion or of a reference."""


_ARGUMENT_KEYS = ("arguments", "parameters", "args")


class BadCall(ValueError):
    """A text or a value is meant to be a call and is none."""


class WrittenValue(str):
    """An argument in a form without types: a text, or the value of JSON that it spells."""

    __slots__ = ()

    def values(self) -> list[Any]:
        """The values for which it may stand.

        >>> WrittenValue("3").values(), WrittenValue("3 km").values()
        (['3', 3], ['3 km'])
        """
        try:
            return [str(self), parsed(self)]
        except BadCall:
            return [str(self)]


class ToolCall(NamedTuple):
    """The name of a tool and its arguments."""

    name: str
    arguments: Mapping[str, Any]
    positional: tuple[Any, ...] = ()
    """Arguments without a name, of a call in Python's syntax."""


def call_of(value: Any) -> ToolCall:
    """The call in a JSON value.

    | form | of |
    |---|---|
    | `{"name", "arguments"}` (or `parameters`, `args`) | Hermes, xLAM, Responses items, Llama |
    | `{"function": {"name", "arguments"}}` | OpenAI's `tool_calls` |

    Arguments may be the JSON text of an object, as OpenAI sends them.

    >>> call_of({"function": {"name": "add", "arguments": '{"a": 1}'}})
    ToolCall(name='add', arguments={'a': 1}, positional=())

    Raises:
        BadCall: the value has neither form.
    """
    if not isinstance(value, dict):
        raise BadCall("a call is an object")
    inside = value.get("function")
    if isinstance(inside, dict):
        value = inside
    name = value.get("name")
    if not isinstance(name, str) or not name:
        raise BadCall("a call has a `name`")
    keys = [key for key in _ARGUMENT_KEYS if key in value]
    if len(keys) > 1:
        raise BadCall(f"a call has one of {keys}")
    arguments = value[keys[0]] if keys else {}
    if isinstance(arguments, str):
        arguments = parsed(arguments) if arguments.strip() else {}
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise BadCall("the arguments of a call are an object")
    return ToolCall(name, arguments)


def parsed(text: str) -> Any:
    """The value of a JSON text that all readers take for the same. Raises BadCall."""
    try:
        return strict_json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadCall("no JSON, or JSON that readers take for different values") from error
