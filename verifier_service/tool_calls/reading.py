"""Calls in a completion's text: tagged JSON, JSON alone, or Python's syntax as in BFCL."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from verifier_service.answer_text import without_end_tokens
from verifier_service.instructions.visible import NO_INK
from verifier_service.tool_calls.call import MAX_CALLS, BadCall, ToolCall, call_of, parsed
from verifier_service.tool_calls.model_forms import (
    call_in_tag,
    json_values,
    model_calls,
)

CallForm = Literal["auto", "tagged", "json", "python"]

MAX_PYTHON_CHARACTERS = 20_000
"""Longest text that is read as Python; its parser takes memory for each bracket."""
# The end of a tag that opens or closes a call: `<tool_call>`, `</tool_call>`.
_TAG = re.compile(r"<(/?)(?:tool_call|function_call)>")
# A fenced block that is all of a text: the inside of "```json\n[]\n```".
_FENCED = re.compile(
    r"```[ \t]*(?:json|python|tool_call|tool_code)?[ \t]*\n(.*)\n[ \t]*```", re.DOTALL
)
# White space and characters that show nothing, such as a byte order mark, before a text.
_NO_INK_BEFORE = re.compile(rf"\A[\s{NO_INK}]+")
_MEMBER = r"\"\w{1,20}\"\s{0,9}:\s{0,9}"
# The beginning of a call in JSON, whose end may be missing: `[{"name": "f", "arguments": {"a": 1`,
# `{"type": "function", "function": {`. Other JSON has lists: `{"name": "make", "args": ["-j4"]}`.
_JSON_CALL = re.compile(
    rf"(?:```\w{{0,20}}\s{{1,9}})?[\[{{\s]{{1,20}}(?:\"tool_calls\"\s{{0,9}}:[\[{{\s]{{1,20}})?"
    rf"(?:{_MEMBER}\"[^\"\\\n]{{0,200}}\"\s{{0,9}},\s{{0,9}}){{0,3}}"
    r"\"(?:function\"\s{0,9}:\s{0,9}\{\s{0,9}(?:\"name\"|\Z)"
    r"|name\"\s{0,9}:\s{0,9}\"[^\"\\\n]{1,200}\"\s{0,9},\s{0,9}"
    r"\"(?:arguments\"\s{0,9}:|(?:parameters|args)\"\s{0,9}:\s{0,9}(?:\{|\Z)))"
)
# Python's parser warns of nothing else: the `\d` of `"\d"`, the `1o` of `1or 2`.
_WARNED = re.compile(r"\\|[0-9][A-Za-z_]")
# An underscore as Markdown escapes it: that of `get\_weather(city="Rome")`.
_ESCAPED_NAME = re.compile(r"(?<!\\)\\_")
_PLAIN_TYPES = frozenset({type(None), bool, int, float, str})
_WORDS = {"true": True, "false": False, "null": None}
"""Values of JSON that models write in Python's syntax."""


def calls_in(text: str, form: CallForm = "auto") -> list[ToolCall]:
    """The calls in a text, in order; none where it only speaks.

    Args:
        text: after the reasoning.
        form: the only one that counts, or auto: tags where there are any, else the form of another
            model, else JSON or Python where one of them is the whole text.

    Raises:
        BadCall: something is meant to be a call and is none.
    """
    if "<" in text and form in ("auto", "tagged") and _TAG.search(text):
        return _tagged(text)
    if form == "tagged":
        return []
    text = _NO_INK_BEFORE.sub("", without_end_tokens(text), count=1)
    if form == "auto" and (text.startswith("[TOOL_CALLS]") or not text.startswith(("{", "["))):
        found = model_calls(text, _certain_python_calls)
        if found is not None:
            return _bounded(found)
    inside = _inside_fence(text)
    if form in ("auto", "json") and inside.startswith(("{", "[")):
        found = _json_calls(inside, is_certain=form == "json")
        if found is not None:
            return found
    if form == "auto" and _JSON_CALL.match(inside):
        raise BadCall("JSON that begins as a call, and cannot be read as one")
    if form in ("auto", "python"):
        return _python_calls(inside, is_certain=form == "python")
    return []


# A call as other models write it, which is not read, or not where it stands: `[TOOL_REQUEST]`,
# the `<|DSML|invoke name="f">` of DeepSeek V3.2, LangChain's `"action_input": {}`.
_OTHER_FORM = re.compile(
    r"\[TOOL_(?:CALLS?|REQUEST)\]"
    r"|<\|?/?(?i:tool_calls?|function_calls?|tool_use|python_tag)(?:_\w{1,20})?\|?>"
    r"|<[|｜]tool[_▁]calls?|<(?:\w{1,20}:)?invoke\s+name=|<function(?:=|\s+name=)\w"  # noqa: RUF001
    r"|<[|｜]DSML[|｜]|\"action_input\"\s?:"  # noqa: RUF001
    r"|<\|channel\|>(?:commentary|analysis)\s+to=|<\|start\|>assistant\s+to=|```(?:tool_code|tool_call)\b"
    r"|^[ ]{0,3}\**Action:\**[ ]*[\w.]{1,100}[ ]*\n+[ ]{0,3}\**Action Input:",
    re.MULTILINE,
)


def refuse_other_forms(text: str, tool_names: Iterable[str] = ()) -> None:
    """Raise BadCall where a text has a call in a form of other models, or begins with one.

    Args:
        text: of the answer, in which no call is read.
        tool_names: of the tools whose calls are known at the beginning of a text that goes on.
    """
    found = _OTHER_FORM.search(text)
    if found is None and (names := list(tool_names)):
        found = _call_at_start(names).match(text)
    if found is not None:
        raise BadCall(f"a call in a form that is not read: {found[0].strip()[:40]!r}")


def _call_at_start(tool_names: Sequence[str]) -> re.Pattern[str]:
    """The pattern of a list of calls, of a line that is one, or of one whose end is missing.

    Such as `[get_weather(city=home)]` and `get_weather(city=`.
    """
    names = "|".join(re.escape(name).replace("_", r"\\?[_.]") for name in tool_names)
    return re.compile(
        rf"\s*(?:```\w*\s+)?['\"]?"
        rf"(?:\[\s*['\"]?(?:{names})\(|(?:{names})\((?:[^\n]*\)['\"]?[,;]?)?[ \t]*(?:\n|\Z)"
        rf"|(?:{names})\([^)]*\Z)"
    )


def _inside_fence(text: str) -> str:
    stripped = text.strip()
    if not stripped.startswith("```"):
        return stripped
    fenced = _FENCED.fullmatch(stripped)
    return fenced[1].strip() if fenced and "```" not in fenced[1] else stripped


def _bounded(calls: Sequence[ToolCall]) -> list[ToolCall]:
    if len(calls) > MAX_CALLS:
        raise BadCall(f"more than {MAX_CALLS} calls")
    return list(calls)


def _tagged(text: str) -> list[ToolCall]:
    """The calls between tags. An unclosed last tag counts: samplers cut the closing one off."""
    found = []
    opened: int | None = None
    for tag in _TAG.finditer(text):
        if not tag[1]:
            if opened is not None and tag[0] == "<tool_call>":
                raise BadCall("a tag opens inside another")
            if opened is not None:  # Granite closes no tag
                found += _between_tags(text[opened : tag.start()])
            opened = tag.end()
        elif opened is None:
            raise BadCall("a tag closes that was not opened")
        else:
            found += _between_tags(text[opened : tag.start()])
            opened = None
    if opened is not None:
        found += _between_tags(text[opened:])
    return _bounded(found)


def _between_tags(text: str) -> list[ToolCall]:
    """The call between two tags, or several on lines of their own, or in a list."""
    inside = text.strip()
    if not inside.startswith(("{", "[")) and (other := call_in_tag(inside)) is not None:
        return other
    try:
        values = parsed(inside)
    except BadCall:
        lines = [line for line in inside.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        values = [parsed(line) for line in lines]
    return [call_of(one) for one in (values if isinstance(values, list) else [values])]


def _json_calls(text: str, *, is_certain: bool) -> list[ToolCall] | None:
    """The calls of a JSON text; None where it may be something else."""
    try:
        values = _value_or_several(text)
        if isinstance(values, dict) and isinstance(values.get("tool_calls"), list):
            values = values["tool_calls"]
        every = values if isinstance(values, list) else [values]
        return _bounded([call_of(one) for one in every])
    except BadCall:
        if is_certain:
            raise
        return None


def _value_or_several(text: str) -> Any:
    """The value of a JSON text, or a list of objects that follow each other. Raises BadCall."""
    try:
        return parsed(text)
    except BadCall:
        values = list(json_values(text))
        if len(values) < 2:
            raise
        return values


def _certain_python_calls(text: str) -> list[ToolCall]:
    return _python_calls(text, is_certain=True)


def _python_calls(text: str, *, is_certain: bool) -> list[ToolCall]:
    """The calls of `f(a=1)` or `[f(a=1), g(b="x")]`, of which nothing is evaluated."""
    try:
        if len(text) > MAX_PYTHON_CHARACTERS:
            raise BadCall(f"more than {MAX_PYTHON_CHARACTERS} characters")
        body = _expression(text)
        every = map(_unquoted, body.elts) if isinstance(body, ast.List | ast.Tuple) else [body]
        return _bounded([_python_call(one) for one in every])
    except BadCall:
        if is_certain and text:
            raise
        return []


def _unquoted(node: ast.expr) -> ast.expr:
    """An element of a list of calls, which some models put between quotes: `['f(a=1)']`."""
    match node:
        case ast.Constant(value=str() as text):
            return _expression(text)
    return node


def _expression(text: str) -> ast.expr:
    """The one expression of a text, or the list of those on its lines. Raises BadCall."""
    try:
        tree = _parsed_python(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        unescaped = _ESCAPED_NAME.sub("_", text)
        if unescaped != text:
            return _expression(unescaped)
        raise BadCall("no call in Python's syntax") from error
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.Expr):
        return tree.body[0].value
    body = [one.value for one in tree.body if isinstance(one, ast.Expr)]
    if not body or len(body) != len(tree.body):
        raise BadCall("no call in Python's syntax")
    return ast.List(elts=body)


def _parsed_python(text: str) -> ast.Module:
    """The tree of a text, of whose escapes and numbers nothing is told."""
    if not _WARNED.search(text):
        return ast.parse(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        return ast.parse(text)


def _python_call(node: ast.expr) -> ToolCall:
    if not isinstance(node, ast.Call):
        raise BadCall("no call in Python's syntax")
    arguments = {}
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg in arguments:
            raise BadCall("arguments of a call have names, each its own")
        arguments[keyword.arg] = _literal(keyword.value)
    positional = tuple(_literal(one) for one in node.args)
    return ToolCall(_dotted_name(node.func), arguments, positional)


def _dotted_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted_name(node.value)}.{node.attr}"
    if isinstance(node, ast.Name):
        return node.id
    raise BadCall("a call has a name")


def _literal(node: ast.expr) -> Any:
    """The value of a literal; nothing else has one. Raises BadCall."""
    if type(node) is ast.Constant and type(node.value) in _PLAIN_TYPES:
        return node.value
    match node:
        case ast.Name(id=name) if name in _WORDS:
            return _WORDS[name]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values) if None not in keys:
            names = [_literal(key) for key in keys if key is not None]
            if all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
                return dict(zip(names, map(_literal, values), strict=True))
    raise BadCall("an argument is no literal")
