"""Calls as the chat templates of single models write them, beside JSON in `<tool_call>`.

| form | of |
|---|---|
| `<|python_tag|>{"name": "f", "parameters": {}}`, more behind `;` | Llama 3 |
| `<function=f>{"a": 1}</function>` | Llama 3.1 |
| `<function=f><parameter=a>1</parameter></function>` | Qwen3-Coder |
| `f<arg_key>a</arg_key><arg_value>1</arg_value>` in `<tool_call>` | GLM 4.5 |
| `[TOOL_CALLS] [{"name": "f", "arguments": {}}]`, `[TOOL_CALLS]f[ARGS]{}` | Mistral |
| `<tool_calls>[...]</tool_calls>`, `<|tool_call|>[...]`, `functools[...]` | xLAM, Granite, Phi-4 |
| `<｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>` | DeepSeek V3 |
"""  # noqa: RUF002

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from verifier_service.tool_calls.call import (
    MAX_CALLS,
    BadCall,
    ToolCall,
    WrittenValue,
    call_of,
    parsed,
)

_MAX_END_MARKS = 3
_END_MARKS = (
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "</s>",
    "<｜end▁of▁sentence｜>",  # noqa: RUF001
)
"""Control tokens that end a turn; samplers that keep such tokens leave them in the text."""
# The name of a tool: `get_weather`, `math.area`.
_NAME = r"[\w.:/-]{1,200}"
# The name that opens a call: `<function=get_weather>`.
_FUNCTION = re.compile(rf"<function=({_NAME})>")
_PARAMETER = re.compile(rf"<parameter=({_NAME})>")
# The name before the JSON of Mistral's later templates: `get_weather[CALL_ID]a1[ARGS]`.
_MISTRAL_NAME = re.compile(rf"\s*({_NAME})(?:\[CALL_ID\][\w-]{{1,64}})?(?:\[ARGS\])?\s*(?=\{{)")
# A whole fenced block: the inside of "```json\n{}\n```".
_FENCED = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL)
_DEEPSEEK_BEGIN, _DEEPSEEK_END = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"  # noqa: RUF001
_DEEPSEEK_BETWEEN = "<｜tool▁sep｜>"  # noqa: RUF001


def without_end_marks(text: str) -> str:
    """A text without white space and the control tokens that end it.

    >>> without_end_marks("f()<|eot_id|>")
    'f()'
    """
    text = text.strip()
    for _ in range(_MAX_END_MARKS):
        mark = next((one for one in _END_MARKS if text.endswith(one)), None)
        if mark is None:
            break
        text = text.removesuffix(mark).rstrip()
    return text


def model_calls(text: str, python_calls: Callable[[str], list[ToolCall]]) -> list[ToolCall] | None:
    """The calls of a text in the form of the first mark that it has; None: it has no mark.

    Args:
        text: of the answer, without marks at its end.
        python_calls: reads calls in Python's syntax; raises BadCall where there are none.

    Raises:
        BadCall: something behind a mark is no call.
    """
    for mark, read in _READERS.items():
        _, found, behind = text.partition(mark)
        if found:
            return read(behind)
    _, found, behind = text.partition("<|python_tag|>")
    if found:
        inside = behind.strip()
        return json_calls(inside) if inside.startswith(("{", "[")) else python_calls(inside)
    if text.startswith("functools["):
        return json_calls(text.removeprefix("functools"))
    return list(_functions(text)) if _FUNCTION.search(text) else None


def call_in_tag(text: str) -> list[ToolCall] | None:
    """The calls between two tags that are no JSON; None where they are meant to be JSON.

    >>> call_in_tag("f\\n<arg_key>a</arg_key>\\n<arg_value>1</arg_value>")
    [ToolCall(name='f', arguments={'a': '1'}, positional=())]
    """
    if text.startswith("<function="):
        return list(_functions(text))
    if text.startswith("```") and (fenced := _FENCED.fullmatch(text)):
        return json_calls(fenced[1])
    name, found, rest = text.partition("<arg_key>")
    if found and re.fullmatch(_NAME, name.strip()):
        return [ToolCall(name.strip(), _arguments(f"{found}{rest}"))]
    return None


def json_calls(text: str) -> list[ToolCall]:
    """The calls of a list, an object, or several objects after another. Raises BadCall."""
    values = list(json_values(text))
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    return [call_of(one) for one in values]


def json_values(text: str) -> Iterator[Any]:
    """The values of JSON in a text, with white space, `;` or nothing between. Raises BadCall."""
    decoder = json.JSONDecoder()
    end = 0
    for _ in range(MAX_CALLS + 1):
        start = end
        while start < len(text) and text[start] in " \t\r\n;":
            start += 1
        if start == len(text):
            return
        try:
            _, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError) as error:
            raise BadCall("no JSON, or JSON that readers take for different values") from error
        yield parsed(text[start:end])
    raise BadCall(f"more than {MAX_CALLS} calls")


def _mistral(text: str) -> list[ToolCall]:
    if text.lstrip().startswith(("[", "{")):
        return json_calls(text)
    found = []
    for part in text.split("[TOOL_CALLS]"):
        name = _MISTRAL_NAME.match(part)
        if name is None:
            raise BadCall("no name behind [TOOL_CALLS]")
        found.append(_named(name[1], part[name.end() :]))
    return found


def _deepseek(text: str) -> list[ToolCall]:
    """The calls of DeepSeek V3, whose name follows `function`, and of V3.1, where it is first."""
    found = []
    for part in text.split(_DEEPSEEK_BEGIN):
        inside, _, rest = part.partition(_DEEPSEEK_END)
        _check_end(rest)
        inside = inside.strip()
        if not inside:
            continue
        name, is_separate, rest = inside.partition(_DEEPSEEK_BETWEEN)
        if not is_separate:
            raise BadCall("a call without a name")
        if name.strip() == "function" and not rest.lstrip().startswith("{"):
            name, _, rest = rest.partition("\n")
        fenced = _FENCED.fullmatch(rest.strip())
        found.append(_named(name.strip(), fenced[1] if fenced else rest))
    return found


def _until(mark: str) -> Callable[[str], list[ToolCall]]:
    def read(text: str) -> list[ToolCall]:
        inside, _, rest = text.partition(mark)
        _check_end(rest)
        return json_calls(inside)

    return read


def _check_end(rest: str) -> None:
    """Raise BadCall where more may be called behind the end of calls."""
    if "{" in rest:
        raise BadCall("more behind the end of the calls")


_READERS: dict[str, Callable[[str], list[ToolCall]]] = {
    "[TOOL_CALLS]": _mistral,
    "<tool_calls>": _until("</tool_calls>"),
    "<|tool_call|>": _until("<|/tool_call|>"),
    _DEEPSEEK_BEGIN: _deepseek,
}
"""The reader of the text behind a mark."""


def _named(name: str, arguments: str) -> ToolCall:
    return call_of({"name": name, "arguments": parsed(arguments.strip())})


def _functions(text: str) -> Iterator[ToolCall]:
    """The calls of `<function=f>...</function>`, with JSON or parameters inside."""
    _, *parts = _FUNCTION.split(text)
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        inside, _, rest = part.partition("</function>")
        _check_end(rest)
        inside = inside.strip()
        if inside.startswith("<parameter="):
            yield ToolCall(name, _parameters(inside))
        else:
            yield _named(name, inside or "{}")


def _parameters(text: str) -> dict[str, Any]:
    before, *parts = _PARAMETER.split(text)
    found: dict[str, Any] = {}
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        value, is_closed, rest = part.partition("</parameter>")
        if not is_closed or rest.strip() or name in found or before.strip():
            raise BadCall("parameters of a call have names, each its own")
        found[name] = _written(value)
    return found


def _arguments(text: str) -> dict[str, Any]:
    """The arguments of GLM: keys and values in tags, in turn."""
    found: dict[str, Any] = {}
    before, *parts = text.split("<arg_key>")
    for part in parts:
        name, _, rest = part.partition("</arg_key>")
        space, is_open, rest = rest.partition("<arg_value>")
        value, is_closed, after = rest.partition("</arg_value>")
        if (
            not (is_open and is_closed)
            or f"{before}{space}{after}".strip()
            or name.strip() in found
        ):
            raise BadCall("arguments of a call have names, each its own")
        found[name.strip()] = _written(value)
    return found


def _written(value: str) -> WrittenValue:
    """A value without the line breaks that a template puts around it."""
    return WrittenValue(value.removeprefix("\n").removesuffix("\n"))
