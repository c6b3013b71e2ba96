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
| `<|channel|>commentary to=functions.f <|constrain|>json<|message|>{}<|call|>` | gpt-oss |
| `<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>` | Kimi K2 |
| `<invoke name="f"><parameter name="a">1</parameter></invoke>` | MiniMax |
| `Action: f` and `Action Input: {}` in lines of their own | ReAct |
| `f`, and `{"a": 1}` in the lines behind it | GLM 4 |
| `<function_call> {"name": "f", "arguments": {}}`, which nothing closes | Granite |
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
_KIMI_BEGIN, _KIMI_END = "<|tool_call_begin|>", "<|tool_call_end|>"
# The name of a call of Kimi K2 up to its arguments: `functions.f:0<|tool_call_argument_begin|>`.
_KIMI_NAME = re.compile(
    rf"\s*(?:functions\.)?({_NAME}?)(?::\d{{1,4}})?\s*<\|tool_call_argument_begin\|>"
)
_CALLEE = rf"to=(?:functions\.)?({_NAME})"
# The beginning of a message of gpt-oss that calls a tool, up to its arguments: the
# `<|channel|>commentary to=functions.f <|constrain|>json<|message|>`.
_GPT_OSS_CALL = re.compile(
    rf"(?:<\|start\|>assistant\s{{1,3}}{_CALLEE})?"
    rf"<\|channel\|>(?:commentary|analysis)(?:\s{{1,3}}{_CALLEE})?"
    r"\s{0,3}(?:<\|constrain\|>)?(?:json)?\s{0,3}<\|message\|>"
)
# A sign that ends a message of gpt-oss.
_GPT_OSS_END = re.compile(r"<\|(?:call|end|return|start|channel)\|>")
# The reasoning of gpt-oss, a message that ends, and the beginning of its answer.
_GPT_OSS_REASONING = re.compile(
    r"<\|channel\|>analysis<\|message\|>(?:(?!<\|(?:end|start|message)\|>).)*<\|end\|>", re.DOTALL
)
_GPT_OSS_ANSWER = "<|channel|>final<|message|>"
# The name and the parameters of a call of MiniMax: `<invoke name="f">`, `<parameter name="a">`.
_INVOKE = re.compile(rf"<(?:\w{{1,20}}:)?invoke\s+name=[\"']?({_NAME})[\"']?\s{{0,3}}>")
_INVOKED_PARAMETER = re.compile(
    rf"<(?:\w{{1,20}}:)?parameter\s+name=[\"']?({_NAME})[\"']?[^<>]{{0,60}}>"
)
_END_OF_INVOKE = re.compile(r"</(?:\w{1,20}:)?invoke>")
_END_OF_INVOKED_PARAMETER = re.compile(r"</(?:\w{1,20}:)?parameter>")
# The lines of ReAct up to the arguments: `Action: f`, `Action Input: `.
_ACTION = re.compile(
    rf"^[ ]{{0,3}}\**Action:\**[ ]{{0,3}}`?({_NAME})`?(?:\(\))?[ ]{{0,3}}\n+"
    r"[ ]{0,3}\**Action Input:\**\s{0,3}(?:```(?:json)?\s{1,3})?",
    re.MULTILINE,
)

# A name and the object below it, which are all of a text: the `f\n{"a": 1}` of GLM 4.
_NAME_ABOVE = re.compile(r"((?!json\b)[a-z_][\w.-]{0,199})[ \t]*\n\s{0,3}(?=\{)")


def with_calls_of_gpt_oss(text: str) -> str:
    """A completion of gpt-oss that calls tools, without its reasoning; any other text as it is.

    Its calls stand in messages of their own, before those of the answer.

    >>> with_calls_of_gpt_oss(
    ...     "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant"
    ...     "<|channel|>commentary to=functions.f<|message|>{}<|call|>"
    ... )
    '<|start|>assistant<|channel|>commentary to=functions.f<|message|>{}<|call|>'
    """
    if "<|channel|>" not in text or next(_gpt_oss_calls(text), None) is None:
        return text
    return _GPT_OSS_REASONING.sub("", text).replace(_GPT_OSS_ANSWER, "\n")


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
    for find, read_all in _MATCHED.items():
        if find.search(text) and (found_calls := list(read_all(text))):
            return found_calls
    return _named_above(text)


def _named_above(text: str) -> list[ToolCall] | None:
    """The call of a name and an object below it; None for a text that has anything else."""
    name = _NAME_ABOVE.match(text)
    if name is None:
        return None
    try:
        return [_named(name[1], text[name.end() :])]
    except BadCall:
        return None


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


def _kimi(text: str) -> list[ToolCall]:
    found = []
    for part in text.split(_KIMI_BEGIN):
        inside, _, rest = part.partition(_KIMI_END)
        _check_end(rest)
        name = _KIMI_NAME.match(inside)
        if name is None:
            raise BadCall("a call without a name")
        found.append(_named(name[1], inside[name.end() :]))
    return found


def _gpt_oss_calls(text: str) -> Iterator[re.Match[str]]:
    """The beginnings of messages that call a tool."""
    return (one for one in _GPT_OSS_CALL.finditer(text) if one[1] or one[2])


def _gpt_oss(text: str) -> Iterator[ToolCall]:
    for call in _gpt_oss_calls(text):
        end = _GPT_OSS_END.search(text, call.end())
        yield _named(call[1] or call[2], text[call.end() : end.start() if end else len(text)])


def _invoked(text: str) -> Iterator[ToolCall]:
    _, *parts = _INVOKE.split(text)
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        inside, *rest = _END_OF_INVOKE.split(part)
        if len(rest) > 1:
            raise BadCall("a call ends twice")
        _check_end("".join(rest))
        yield ToolCall(name, _parameters(inside, _INVOKED_PARAMETER, _END_OF_INVOKED_PARAMETER))


def _acted(text: str) -> Iterator[ToolCall]:
    """The calls of ReAct; what it observes is text that nothing reads."""
    decoder = json.JSONDecoder()
    for action in _ACTION.finditer(text):
        try:
            _, end = decoder.raw_decode(text, action.end())
        except (ValueError, RecursionError) as error:
            raise BadCall("no JSON behind `Action Input:`") from error
        if text[end:].partition("\n")[0].strip(" `"):
            raise BadCall("more behind the input of an action")
        yield _named(action[1], text[action.end() : end])


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
    _KIMI_BEGIN: _kimi,
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


def _parameters(
    text: str,
    beginning: re.Pattern[str] = _PARAMETER,
    ending: re.Pattern[str] = re.compile("</parameter>"),
) -> dict[str, Any]:
    before, *parts = beginning.split(text)
    found: dict[str, Any] = {}
    for name, part in zip(parts[::2], parts[1::2], strict=True):
        value, *rest = ending.split(part, maxsplit=1)
        if not rest or rest[0].strip() or name in found:
            raise BadCall("parameters of a call have names, each its own")
        found[name] = _written(value)
    if before.strip():
        raise BadCall("parameters of a call have names, each its own")
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


_MATCHED: dict[re.Pattern[str], Callable[[str], Iterator[ToolCall]]] = {
    _FUNCTION: _functions,
    _GPT_OSS_CALL: _gpt_oss,
    _INVOKE: _invoked,
    _ACTION: _acted,
}
"""The reader of a text that has such a beginning of a call."""
