"""`tool_calls`: forms of calls, wanted calls as data sets ship them, and hostile calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import score as scored
from tests.verifier_service.test_score import verdicts
from verifier_service.completion import Completion
from verifier_service.tool_calls.matching import is_equal
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.tool_calls import ToolCalls

ALL = ToolCalls()
WEATHER: dict[str, Any] = {"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}
ADD: dict[str, Any] = {"name": "add", "arguments": {"a": 1, "b": 2}}
ONE: dict[str, Any] = {"tool_calls": [WEATHER]}
TWO: dict[str, Any] = {"tool_calls": [WEATHER, ADD]}
NONE: dict[str, Any] = {"tool_calls": []}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer", "default": 3},
                    "unit": {"type": "string", "default": "C"},
                },
                "required": ["city"],
            },
        },
    }
]


def tagged(*calls: Any) -> str:
    return "\n".join(f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in calls)


def judge_of(reference: dict[str, Any]) -> Callable[[str], object]:
    judged = ToolCalls().prepare(reference)
    return lambda text: judged(Completion(text))


def outcome(text: str, reference: dict[str, Any], **options: Any) -> tuple[float, str]:
    found = judge(ToolCalls(**options), reference, text)
    return found.score, found.reason.value


@pytest.mark.parametrize(
    "text",
    [
        tagged(WEATHER),
        "I look it up.\n" + tagged(WEATHER),
        "<think>add(a=1)? no</think>" + tagged(WEATHER),
        tagged({"name": "get_weather", "parameters": {"days": 3, "city": "Paris"}}),
        tagged({"name": "get_weather", "arguments": '{"city": "Paris", "days": 3.0}'}),
        tagged({"id": "c1", "type": "function", "function": WEATHER}),
        tagged([WEATHER]),
        tagged(WEATHER).removesuffix("</tool_call>"),
        json.dumps(WEATHER),
        json.dumps([WEATHER]),
        json.dumps({"tool_calls": [{"function": WEATHER}]}),
        f"```json\n{json.dumps(WEATHER, indent=1)}\n```",
        "get_weather(city='Paris', days=3)",
        '[get_weather(city="Paris", days=3)]',
        "```python\nget_weather(city='Paris', days=3)\n```",
    ],
)
def test_a_call_is_read_in_every_usual_form(text: str) -> None:
    assert outcome(text, ONE) == (1, "equal")
    assert outcome(text.replace("Paris", "Rome"), ONE) == (0, "different")
    assert outcome(text, NONE) == (0, "unwanted_call")


ARGUMENTS = json.dumps(WEATHER["arguments"])
MODEL_FORMS = [
    "<|python_tag|>" + json.dumps(WEATHER),
    "<|python_tag|>" + json.dumps({"type": "function", **WEATHER}) + "<|eom_id|>",
    '<|python_tag|>get_weather(city="Paris", days=3)<|eot_id|>',
    json.dumps(WEATHER) + "<|eot_id|>",
    tagged(WEATHER) + "<|im_end|>",
    "get_weather(city='Paris', days=3)</s>",
    f"[TOOL_CALLS] [{json.dumps(WEATHER)}]",
    f"I look.[TOOL_CALLS][{json.dumps(WEATHER)}]</s>",
    f"[TOOL_CALLS]get_weather{ARGUMENTS}",
    f"[TOOL_CALLS]get_weather[ARGS]{ARGUMENTS}",
    f"[TOOL_CALLS]get_weather[CALL_ID]a1B2[ARGS]{ARGUMENTS}</s>",
    f"<tool_calls>[{json.dumps(WEATHER)}]</tool_calls>",
    f"<|tool_call|>[{json.dumps(WEATHER)}]<|/tool_call|>",
    f"<|tool_call|>[{json.dumps(WEATHER)}]",
    f"functools[{json.dumps(WEATHER)}]",
    f"<function=get_weather>{ARGUMENTS}</function>",
    f"<tool_call>\n```json\n{json.dumps(WEATHER)}\n```\n</tool_call>",
    "<tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n<parameter=days>\n"
    "3\n</parameter>\n</function>\n</tool_call>",
    "<function=get_weather><parameter=city>Paris</parameter><parameter=days>3</parameter></function>",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
    "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"  # noqa: RUF001
    f"{ARGUMENTS}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",  # noqa: RUF001
    "<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"  # noqa: RUF001
    f"{ARGUMENTS}<｜tool▁call▁end｜>",  # noqa: RUF001
    "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>"
    f"{ARGUMENTS}<|call|>",
    f"<|channel|>commentary to=functions.get_weather json<|message|>{ARGUMENTS}",
    "<|channel|>analysis<|message|>add(a=1)?<|end|><|start|>assistant<|channel|>commentary<|message|>"
    "I look.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather "
    f"<|constrain|>json<|message|>{ARGUMENTS}<|call|>",
    "<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>"
    f"{ARGUMENTS}<|call|>",
    f"<|channel|>commentary to=functions.get_weather<|message|>{ARGUMENTS}<|call|>"
    "<|start|>assistant<|channel|>final<|message|>I look.<|return|>",
    "I look.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    f"<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|><|tool_calls_section_end|><|im_end|>",
    f"<|tool_call_begin|>get_weather<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>",
    '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Paris</parameter>\n'
    '<parameter name="days">3</parameter>\n</invoke>\n</minimax:tool_call>',
    '<function_calls><invoke name="get_weather"><parameter name="city">Paris</parameter>'
    '<parameter name="days">3</parameter></invoke></function_calls>',
    f"Thought: I look.\nAction: get_weather\nAction Input: {ARGUMENTS}",
    f"Thought: I look.\nAction: get_weather\nAction Input: {ARGUMENTS}\nObservation: sunny\n"
    "Thought: I know.\nFinal Answer: sunny",
    f"Action: get_weather\nAction Input:\n```json\n{ARGUMENTS}\n```",
    f"get_weather\n{ARGUMENTS}",
    f"\nget_weather\n{ARGUMENTS}<|user|>",
    f"<function_call> {json.dumps(WEATHER)}",
    "[\"get_weather(city='Paris', days=3)\"]",
]


@pytest.mark.parametrize("text", MODEL_FORMS)
def test_a_call_is_read_as_single_models_write_it(text: str) -> None:
    assert outcome(text, ONE) == (1, "equal")
    assert outcome(f"<think>hm</think>\n{text}", ONE) == (1, "equal")
    assert outcome(f"<think>{text}</think>", ONE) == (0, "no_call")
    assert outcome(text.replace("Paris", "Rome"), ONE) == (0, "different")
    assert outcome(text.replace("get_weather", "get_time"), ONE) == (0, "different")
    assert outcome(text, NONE) == (0, "unwanted_call")
    assert outcome(text, TWO) == (0, "different")


@pytest.mark.parametrize(
    "text",
    [
        "; ".join(map(json.dumps, TWO["tool_calls"])),
        "\n".join(map(json.dumps, TWO["tool_calls"])),
        "<|python_tag|>" + "; ".join(map(json.dumps, TWO["tool_calls"])),
        "".join(
            f"[TOOL_CALLS]{one['name']}{json.dumps(one['arguments'])}" for one in [WEATHER, ADD]
        ),
        "".join(
            f"<function={one['name']}>{json.dumps(one['arguments'])}</function>\n"
            for one in [WEATHER, ADD]
        ),
        "".join(
            f"<|start|>assistant<|channel|>commentary to=functions.{one['name']}<|message|>"
            f"{json.dumps(one['arguments'])}<|call|>"
            for one in [WEATHER, ADD]
        ),
        "<|tool_calls_section_begin|>"
        + "".join(
            f"<|tool_call_begin|>functions.{one['name']}:{place}<|tool_call_argument_begin|>"
            f"{json.dumps(one['arguments'])}<|tool_call_end|>"
            for place, one in enumerate([WEATHER, ADD])
        )
        + "<|tool_calls_section_end|>",
        "<minimax:tool_call>"
        + "".join(
            f'<invoke name="{one["name"]}">'
            + "".join(
                f'<parameter name="{name}">{value}</parameter>'
                for name, value in one["arguments"].items()
            )
            + "</invoke>\n"
            for one in [WEATHER, ADD]
        )
        + "</minimax:tool_call>",
        "\n".join(
            f"Action: {one['name']}\nAction Input: {json.dumps(one['arguments'])}\nObservation: 1"
            for one in [WEATHER, ADD]
        ),
        "".join(f"<function_call> {json.dumps(one)} " for one in [WEATHER, ADD]),
        "['get_weather(city=\"Paris\", days=3)', 'add(a=1, b=2)']",
    ],
)
def test_several_calls_are_read_as_single_models_write_them(text: str) -> None:
    assert outcome(text, TWO) == (1, "equal")
    assert outcome(text, ONE) == (0, "different")


@pytest.mark.parametrize(
    "text",
    [
        f"[TOOL_CALLS] [{json.dumps(WEATHER)}] [TOOL_CALLS] [{json.dumps(ADD)}]",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]get_weather",
        "<|python_tag|>import os",
        f"<|python_tag|>{json.dumps(WEATHER)} or so",
        f"<function=get_weather>{ARGUMENTS[:-1]}</function>",
        "<function=get_weather><parameter=city>Paris<parameter=days>3</parameter></function>",
        "<function=get_weather><parameter=city>Rome</parameter><parameter=city>Paris</parameter>"
        "<parameter=days>3</parameter></function>",
        "<tool_call>get_weather\n<arg_key>city</arg_key>Paris</tool_call>",
        f"<｜tool▁call▁begin｜>{ARGUMENTS}<｜tool▁call▁end｜>",  # noqa: RUF001
        '<function=get_weather>{"city": "Rome", "city": "Paris", "days": 3}</function>',
        f"<tool_calls>[{json.dumps(WEATHER)}]</tool_calls><tool_calls>[{json.dumps(ADD)}]</tool_calls>",
        f"<tool_call><function=get_weather>{ARGUMENTS}</function>{json.dumps(ADD)}</tool_call>",
        "<|tool_calls_section_begin|><|tool_call_begin|><|tool_call_end|>",
        f"<|tool_call_begin|>get_weather{ARGUMENTS}<|tool_call_end|>",
        f"<|channel|>commentary to=functions.get_weather<|message|>{ARGUMENTS[:-1]}<|call|>",
        f"<|channel|>commentary to=functions.get_weather<|message|>{ARGUMENTS} or so<|call|>",
        "<|channel|>commentary to=functions.f<|message|>" * 10_000,
        '<invoke name="get_weather"><parameter name="city">Paris'
        '<parameter name="days">3</parameter></invoke>',
        f'<invoke name="get_weather">{ARGUMENTS}</invoke>',
        '<invoke name="get_weather"><parameter name="city">Rome</parameter><parameter name="city">'
        'Paris</parameter><parameter name="days">3</parameter></invoke>',
        f"Action: get_weather\nAction Input: {ARGUMENTS} or so",
        f"Action: get_weather\nAction Input: {ARGUMENTS[:-1]}",
        "Action: get_weather\nAction Input: Paris",
        "[TOOL_CALLS]" * 50_000,
        f"[TOOL_CALLS]add{json.dumps(ADD['arguments'])}" * 200,
    ],
)
def test_a_call_that_a_model_form_breaks_off_is_malformed(text: str) -> None:
    assert outcome(text, ONE) == (0, "malformed")
    assert outcome(text, NONE) == (0, "malformed")


@pytest.mark.parametrize(
    ("value", "wanted", "is_met"),
    [
        ("3", 3, True),
        ("3", "3", True),
        ("3.0", 3, True),
        ("true", True, True),
        ("[1, 2]", [1, 2], True),
        ("3 km", "3 km", True),
        ("3 km", 3, False),
        ("03", 3, False),
        ("1", True, False),
        ("NaN", "NaN", True),
        ("a\nb", "a\nb", True),
        ("", "", True),
    ],
)
def test_a_form_without_types_may_mean_a_text_or_a_value(
    value: str, wanted: Any, is_met: bool
) -> None:
    text = f"<tool_call><function=f>\n<parameter=a>\n{value}\n</parameter></function></tool_call>"
    found = judge(ALL, {"tool_calls": [{"name": "f", "arguments": {"a": wanted}}]}, text)
    assert found.score == is_met
    msgspec.json.encode(found.details)


@pytest.mark.parametrize(
    "text",
    ["It is sunny.", "Use get_weather(city) for that.", "{}", "[]", '{"city": "Paris"}', "f",
     "The answer is [1, 2].", "<think>" + tagged(WEATHER) + "</think>It is sunny.", "x = f(1)"],
)  # fmt: skip
def test_text_without_a_call_calls_nothing(text: str) -> None:
    assert outcome(text, NONE) == (1, "equal")
    assert outcome(text, ONE) == (0, "no_call")


def test_an_underscore_that_markdown_escapes_is_one() -> None:
    assert outcome("[get\\_weather(city='Paris', days=3)]", ONE) == (1, "equal")
    wanted = {"tool_calls": [{"name": "tex", "arguments": {"text": "a\\_b"}}]}
    assert outcome(r"tex(text='a\\_b')", wanted) == (1, "equal")


@pytest.mark.parametrize(
    ("hidden", "honest"),
    [
        ("[get_weather(city=your_city)]", "I would call get_weather(city), but which city?"),
        ("[get\\_weather(city='Rome'), x]", "[get_weather] needs a city."),
        ("get_weather(city='Rome')\n\nThis asks for the weather.", "get_weather needs a city."),
        ("```python\n[get_weather(city='Rome')]\n```\nThat is it.", "```python\nx = 1\n```"),
        ("['get_weather(city=home)']", "It is hot. [get_weather(city='Rome')] cannot tell more."),
        (
            "get_weather({'city': Rome})",
            "get_weather(city='Rome') only tells the weather of today.",
        ),
        ("get_weather(city='Rome', da", "get_weather(city) needs a city (which one?"),
    ],
)
def test_an_answer_that_begins_with_a_call_of_a_known_tool_is_no_silence(
    hidden: str, honest: str
) -> None:
    known = {**NONE, "tools": TOOLS}
    assert outcome(hidden, known) == (0, "malformed")
    assert outcome(hidden, {**ONE, "tools": TOOLS}) == (0, "malformed")
    assert outcome(honest, known) == (1, "equal")


@pytest.mark.parametrize(
    ("hidden", "honest"),
    [
        ('{"name": "f", "arguments": {"a": 1', '{"name": the f of mathematics'),
        ('[{"name": "f", "arguments": {"a": 1}}', "[1, 2"),
        ('{"name": "f", "arguments": {"a": NaN}}', '{"value": NaN}'),
        ('{"name": "f", "arguments": {"a": 1, "a": 2}}', '{"a": 1, "a": 2}'),
        ('{"name": "f", "arguments": ' + "[" * 5000 + "]" * 5000 + "}", "[" * 5000 + "]" * 5000),
        ('{"name": "f", "arguments": 3}', '{"arguments": 3}'),
        ('{"function": {"name": "f", "arguments": "{"}}', '{"function": "sin", "at": 0'),
        ('{"id": "1", "type": "function", "function": {"name": "f"', '{"id": "1", "type": "user"'),
        ('```json\n{"name": "f", "arguments": {', '```json\n{"city": "Rome",'),
        ('{"tool_calls": [{"name": "f", "arguments": ', '{"tool_calls": 0, '),
        ('{"name": "f", "args": {"a": 1', '{"name": "make", "args": ["-j4"]}'),
        ('{"name": "f", "parameters": {"a": NaN}}', '{"name": "f", "parameters": ["x", "y"]}'),
        ('{"type": "function", "function": {', '{"type": "map", "function": {"domain": "R"}}'),
        ('<TOOL_CALL>{"name": "f", "arguments": {}}</TOOL_CALL>', "<B>It is sunny.</B>"),
    ],
)
def test_json_that_begins_as_a_call_is_no_silence(hidden: str, honest: str) -> None:
    assert outcome(hidden, NONE) == (0, "malformed")
    assert outcome(hidden, ONE) == (0, "malformed")
    assert outcome(honest, NONE) == (1, "equal")


@pytest.mark.parametrize("before", ["\ufeff", "\u200b\n", "\u3164 "])
def test_a_call_may_stand_behind_characters_that_show_nothing(before: str) -> None:
    assert outcome(before + json.dumps(WEATHER), ONE) == (1, "equal")
    assert outcome(before + json.dumps(WEATHER), NONE) == (0, "unwanted_call")
    assert outcome(before + "It is sunny.", NONE) == (1, "equal")


def test_many_brackets_before_no_call_take_linear_time() -> None:
    known = judge_of({**NONE, "tools": TOOLS})
    pieces = ("[", " ", "get_weather(", "\n", "```", "\\_", "<function_call>")
    for piece in (*pieces, '{"a":"b",', "\u200b"):
        assert_linear(known, piece)


@pytest.mark.parametrize(
    ("hidden", "honest"),
    [
        ('[TOOL_CALLS] [{"name": "f", "arguments": {}}]', "The list [TOOLS] is empty."),
        ('<|tool_call|>{"name": "f"}', "A tool call costs 1 cent."),
        ('<tool_calls>{"name": "f"}</tool_calls>', "<p>It is sunny.</p>"),
        ("<|python_tag|>f(a=1)", "Python is a language."),
        ('<function=f>{"a": 1}</function>', "The function f = g."),
        ('<invoke name="f"><parameter name="a">1</parameter></invoke>', "Invoke f by name."),
        ('<|channel|>commentary to=functions.f<|message|>{"a": 1}', "A commentary to f."),
        ("Thought: hm\nAction: f\nAction Input: 1", "Action: take an umbrella."),
        (
            "<|channel|>commentary to=functions.f<|message|>{}<|call|><|start|>assistant"
            "<|channel|>final<|message|>Hello.",
            "<|channel|>analysis<|message|>f?<|end|><|start|>assistant<|channel|>final<|message|>Hello.",
        ),
        ("<|start|>assistant to=functions.f<|channel|>commentary<|message|>{}", "The assistant."),
        ("<|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}", "Functions begin."),
        ('<｜DSML｜invoke name="f">', "The sign ｜."),  # noqa: RUF001
        ('Action:\n```\n{"action": "f", "action_input": {}}\n```', "The action_input is empty."),
        ("```tool_code\nf(a=1)\n```", "```python\nx = 1\n```"),
        ("<｜tool▁call▁begin｜>f", "The | sign."),  # noqa: RUF001
    ],
)
def test_a_call_in_a_form_of_other_models_is_no_silence(hidden: str, honest: str) -> None:
    assert outcome(hidden, NONE) in [(0, "malformed"), (0, "unwanted_call")]
    assert outcome(honest, NONE) == (1, "equal")


HOSTILE = [
    tagged(WEATHER, WEATHER),
    tagged(WEATHER, {"name": "add", "arguments": {}}),
    tagged({"name": "get_weather", "arguments": {"city": ["Paris", "Rome"], "days": 3}}),
    tagged({"name": "get_weather", "arguments": {"city": "Paris", "days": True}}),
    tagged({"name": "get_weather", "arguments": {"city": "Paris", "days": "3"}}),
    tagged({"name": "get_weather", "arguments": {"city": "Paris"}}),
    tagged({"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "x": None}}),
    tagged({"name": "get_weather ", "arguments": WEATHER["arguments"]}),
    tagged({"name": "GET_WEATHER", "arguments": WEATHER["arguments"]}),
    tagged({"name": "get_weather", "arguments": {"city": "paris", "days": 3}}),
    tagged({"name": "get_weather", "arguments": {"city": "Paris ", "days": 3}}),
    tagged({"name": "get_weather", "arguments": {"city": "Paris", "days": 3.0000001}}),
    tagged({"name": "get_weather", "arguments": [1]}),
    tagged({"name": "get_weather", "arguments": "city=Paris"}),
    tagged({"name": ["get_weather"], "arguments": {}}),
    tagged({"name": "get_weather", "arguments": {}, "parameters": WEATHER["arguments"]}),
    '<tool_call>{"name": "get_weather", "name": "add", "arguments": {}}</tool_call>',
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome", "city": "Paris", "days": 3}}'
    "</tool_call>",
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": NaN}}</tool_call>',
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": 1e999}}</tool_call>',
    "<tool_call></tool_call>",
    "<tool_call>get_weather(city='Paris', days=3)</tool_call>",
    "</tool_call>" + tagged(WEATHER),
    "<tool_call>" + tagged(WEATHER) + "</tool_call>",
    tagged(WEATHER) + "<tool_call>",
    "<tool_call>" + "[" * 100_000 + "</tool_call>",
    "<tool_call>" * 50_000,
    tagged(*[WEATHER] * 200),
    "get_weather('Paris', 3)",
    "get_weather(city='Paris', days=1+2)",
    "get_weather(city='Paris', days=int('3'))",
    "get_weather(city='Par' 'is', days=[3][0])",
    "get_weather(**{'city': 'Paris', 'days': 3})",
    "get_weather(city='Paris', days=3, days=3)",
    "__import__('os').system('echo 1')",
    "(lambda: get_weather(city='Paris', days=3))()",
    "get_weather(city=f'Paris', days=3)",
    "[get_weather(city='Paris', days=3) for _ in range(10**9)]",
    "get_weather(city='Paris', days=3) or add(a=1)",
    "get_weather(city='Paris', days=" + "-" * 10_000 + "3)",
    "get_weather(city='Paris', days=" + "(" * 5_000 + "3" + ")" * 5_000 + ")",
    "get_weather(city='Paris', days=" + "9" * 10_000 + ")",
    "f(" * 3000 + ")" * 3000,
    "\x00",
    '[{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}, 1]',
    f"{json.dumps(WEATHER)}\n{json.dumps(WEATHER)}",
    "<think>" + tagged(WEATHER),
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_but_the_wanted_call_scores(text: str) -> None:
    for form in ("auto", "tagged", "json", "python"):
        assert outcome(text, ONE, form=form)[0] == 0, form
    assert outcome(tagged(WEATHER), ONE)[0] == 1


def test_calls_beside_each_other_are_a_multiset() -> None:
    assert outcome(tagged(ADD, WEATHER), TWO) == (1, "equal")
    assert outcome(tagged(ADD, WEATHER), TWO, order_matters=True) == (0, "other_order")
    assert outcome(tagged(WEATHER, ADD), TWO, order_matters=True) == (1, "equal")
    assert outcome(tagged(WEATHER), TWO) == (0, "different")
    assert outcome("[get_weather(city='Paris', days=3), add(a=1, b=2)]", TWO) == (1, "equal")


def test_f1_counts_calls() -> None:
    assert outcome(tagged(WEATHER), TWO, scoring="f1")[0] == pytest.approx(2 / 3)
    assert outcome(tagged(WEATHER, ADD, ADD), TWO, scoring="f1")[0] == pytest.approx(0.8)
    assert outcome(tagged(*[WEATHER] * 98, ADD), TWO, scoring="f1")[0] == pytest.approx(4 / 101)
    assert outcome(tagged(ADD, WEATHER), TWO, scoring="f1")[0] == 1


def test_toolrl_gives_points_for_names_and_values() -> None:
    """One call with one of two values right: 1 + 1 + 1 of 1 + 1 + 2 points."""
    wrong = tagged({"name": "get_weather", "arguments": {"city": "Paris", "days": 4}})
    assert outcome(wrong, ONE, scoring="toolrl")[0] == pytest.approx(3 / 4)
    other = tagged({"name": "other", "arguments": {}})
    assert outcome(other, ONE, scoring="toolrl")[0] == 0
    assert outcome(tagged(WEATHER), ONE, scoring="toolrl")[0] == 1


def test_an_empty_text_is_no_answer_where_no_call_is_wanted() -> None:
    for text in ("", " \n", "<think>No call.</think>", "<!-- hello -->"):
        assert outcome(text, NONE) == (0, "no_answer"), text
    assert outcome("<think>No call.</think>Hello.", NONE) == (1, "equal")
    assert outcome("", ONE) == (0, "no_call")


SWITCH = {"name": "switch", "arguments": {"room": "kitchen", "on": True}}
SWITCHES = [
    {"name": "switch", "arguments": {"room": room, "on": on}}
    for room in ("kitchen", "hall", "bath", "attic")
    for on in (True, False)
]


@pytest.mark.parametrize(
    ("calls", "wanted", "share"),
    [
        ([SWITCH], [SWITCH], 1),
        ([SWITCHES[1]], [SWITCH], 3 / 4),
        ([SWITCH, SWITCH], [SWITCH], 1 / 2),
        ([SWITCH, ADD], [SWITCH], 1 / 2),
        (SWITCHES, [SWITCH], 1 / 8),
        ([SWITCH, SWITCH], [SWITCH, SWITCH], 1),
        ([SWITCH], [SWITCH, SWITCH], (1 / 2 + 3) / 7),
        # A wanted call that nothing fits takes no call away from another one.
        ([SWITCH], [ADD, SWITCH], (1 / 2 + 3) / 7),
    ],
)
def test_toolrl_lets_surplus_calls_cost(calls: list[Any], wanted: list[Any], share: float) -> None:
    found = outcome(tagged(*calls), {"tool_calls": wanted}, scoring="toolrl")[0]
    assert found == pytest.approx(share)


def test_toolrl_pays_no_guess_of_both_values_more_than_one_guess() -> None:
    right, wrong = (
        outcome(tagged(call), {"tool_calls": [SWITCH]}, scoring="toolrl")[0]
        for call in SWITCHES[:2]
    )
    both = outcome(tagged(*SWITCHES[:2]), {"tool_calls": [SWITCH]}, scoring="toolrl")[0]
    assert both < (right + wrong) / 2


def test_arguments_that_have_their_default_may_be_left_out() -> None:
    reference = {**ONE, "tools": TOOLS}
    short = tagged({"name": "get_weather", "arguments": {"city": "Paris"}})
    long = tagged({"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "unit": "C"}})
    other = tagged({"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "unit": "F"}})
    assert outcome(short, reference) == outcome(long, reference) == (1, "equal")
    assert outcome(other, reference) == (0, "different")
    assert outcome(short, ONE) == (0, "different")
    given = {"city": "Paris", "days": "3", "unit": "C"}
    parameters = "".join(f"<parameter={name}>{value}</parameter>" for name, value in given.items())
    assert outcome(f"<function=get_weather>{parameters}</function>", reference) == (1, "equal")


def test_a_mark_inside_the_text_of_an_argument_begins_no_call() -> None:
    call = {"name": "write", "arguments": {"text": "use <function=f> here"}}
    assert outcome(json.dumps(call), {"tool_calls": [call]}) == (1, "equal")


def test_positional_arguments_have_the_order_of_the_schema() -> None:
    reference = {**ONE, "tools": TOOLS}
    assert outcome("get_weather('Paris', 3)", reference) == (1, "equal")
    assert outcome("get_weather(3, 'Paris')", reference) == (0, "different")
    assert outcome("get_weather('Paris', city='Paris')", reference) == (0, "different")
    assert outcome("get_weather('Paris', 3, 'C', 1)", reference) == (0, "different")


def test_a_reference_may_accept_several_values() -> None:
    reference = {
        "tool_calls": [
            {"name": "get_weather", "accepted": {"city": ["Paris", "Paris, FR"], "days": [3]},
             "optional": ["days"]}
        ]
    }  # fmt: skip
    for text, expected in [("city='Paris'", 1), ("city='Paris, FR', days=3", 1), ("days=3", 0),
                           ("city='Paris', days=4", 0)]:  # fmt: skip
        assert outcome(f"get_weather({text})", reference)[0] == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            {**WEATHER, "accepted": {"city": ["Rome"]}},
            "`accepted` stands for `arguments`: found both, expected one of them",
        ),
        (
            {**WEATHER, "optional": ["days"]},
            "`optional` names keys of `accepted`, which is missing",
        ),
    ],
)
def test_a_reference_that_says_two_things_is_a_bad_one(call: Any, message: str) -> None:
    """One of the two had been left out of the comparison, and right calls refused."""
    with pytest.raises(Unverifiable, match=message):
        outcome("get_weather(city='Paris')", {"tool_calls": [call]})


@pytest.mark.parametrize("name", ["math.area", "math_area"])
def test_a_name_may_have_underscores_for_points_as_in_bfcl(name: str) -> None:
    """APIs take no points in names, so that models call `math_area`."""
    text = tagged({"name": name, "arguments": {"base": 10}})
    wanted = {"tool_calls": [{"math.area": {"base": [10]}}]}
    assert outcome(text, wanted, strings="bfcl") == (1, "equal")
    assert outcome(text, wanted)[0] == (name == "math.area")
    assert outcome(text.replace("math", "meth"), wanted, strings="bfcl")[0] == 0
    none = {"tool_calls": [], "tools": [{"name": "math.area"}]}
    assert outcome(f"[{name}(base=x)]", none, strings="bfcl") == (0, "malformed")


CONDITIONS = {"tool_calls": [{"find": {"conditions": [
    [{"field": ["age"], "value": ["25", 25]}, {"field": ["job"], "value": ["engineer", ""]}]
]}}]}  # fmt: skip


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ([{"field": "age", "value": "25"}, {"field": "job", "value": "engineer"}], 1),
        ([{"field": "age", "value": 25}, {"field": "job"}], 1),
        ([{"field": "age", "value": 26}, {"field": "job"}], 0),
        ([{"field": "job"}, {"field": "age", "value": 25}], 0),
        ([{"field": "age", "value": 25}], 0),
    ],
)
def test_ground_truth_of_bfcl_may_have_lists_of_objects(conditions: Any, expected: float) -> None:
    text = tagged({"name": "find", "arguments": {"conditions": conditions}})
    assert outcome(text, CONDITIONS, strings="bfcl")[0] == expected


BFCL = {"tool_calls": [{"math.area": {"base": [10], "unit": ["units", ""],
                                      "where": [{"x": [1, 2], "y": [3, ""]}]}}]}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[math.area(base=10, where={'x': 1, 'y': 3})]", 1),
        ("math.area(base=10.0, unit='Units', where={'x': 2})", 1),
        ("math.area(base=10, unit='cm', where={'x': 1})", 0),
        ("math.area(base=10, where={'x': 3})", 0),
        ("area(base=10, where={'x': 1})", 0),
        ("math.area(base='10', where={'x': 1})", 0),
    ],
)
def test_ground_truth_of_bfcl_is_read(text: str, expected: float) -> None:
    assert outcome(text, BFCL, strings="bfcl")[0] == expected


def test_texts_may_be_compared_as_bfcl_does() -> None:
    text = tagged({"name": "get_weather", "arguments": {"city": "par-is", "days": 3}})
    assert outcome(text, ONE, strings="bfcl")[0] == 1
    assert outcome(text, ONE)[0] == 0


@pytest.mark.parametrize("form", ["json", "python", "tagged"])
def test_one_form_can_be_asked_for(form: Any) -> None:
    texts = {"json": json.dumps(WEATHER), "python": "get_weather(city='Paris', days=3)",
             "tagged": tagged(WEATHER)}  # fmt: skip
    found = {name: outcome(text, ONE, form=form)[0] for name, text in texts.items()}
    assert found == {name: float(name == form) for name in texts}


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({}, "reference.tool_calls is needed"),
        ({"tool_calls": "no JSON"}, "no JSON"),
        ({"tool_calls": {"a": 1}}, "found an object, expected a list"),
        ({"tool_calls": [1]}, "a call is an object"),
        ({"tool_calls": [{"arguments": {}}]}, "a call has a `name`"),
        ({"tool_calls": [{"name": "f", "accepted": {"a": 1}}]}, "lists that are not empty"),
        ({"tool_calls": [{"name": "f", "accepted": {"a": []}}]}, "lists that are not empty"),
        ({"tool_calls": [ADD] * 200}, "at most 128 calls"),
        ({"tool_calls": [], "tools": "{"}, "no JSON"),
        ({"tool_calls": [], "tools": [{}]}, "each has a `name`"),
        ({"tool_calls": [{"f": {"a": [{str(n): [1, 2] for n in range(20)}]}}]}, "too many"),
    ],
)
def test_a_wrong_reference_is_named(reference: dict[str, Any], message: str) -> None:
    with pytest.raises(Unverifiable, match=message):
        judge(ALL, reference, "text")


def test_a_reference_may_be_json_text_as_xlam_ships_it() -> None:
    assert outcome(tagged(WEATHER), {"tool_calls": json.dumps([WEATHER])})[0] == 1


def test_calls_of_messages_are_judged(http: httpx.Client) -> None:
    call = {"id": "c", "type": "function",
            "function": {**WEATHER, "arguments": json.dumps(WEATHER["arguments"])}}  # fmt: skip
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    spoken = {"role": "assistant", "content": "I look.", "tool_calls": [call, call]}
    evil = {"function": {"name": "</tool_call>", "arguments": "{}"}}
    found = verdicts(http, {"type": "tool_calls"}, [message], [spoken],
                     [{**message, "tool_calls": [evil]}], tool_calls=[WEATHER])  # fmt: skip
    assert [(one["score"], one["reason"]) for one in found] == [
        (1, "equal"), (0, "different"), (0, "different"),
    ]  # fmt: skip


def test_a_message_without_content_needs_calls(http: httpx.Client) -> None:
    body = {"profile": "accuracy", "groups": [{"completions": [[{"role": "assistant"}]]}]}
    response = http.post("/v1/score", json=body)
    assert response.status_code == 422
    assert "message 0 has no `content`" in response.json()["error"]["message"]


def test_calls_and_mathematics_are_judged_in_one_request(http: httpx.Client) -> None:
    groups = [
        {"reference": ONE, "completions": [tagged(WEATHER)], "verifiers": [{"type": "tool_calls"}]},
        {"reference": {"answer": "2"}, "completions": [r"\boxed{2}"]},
    ]
    answer = scored(http, {"profile": "accuracy", "groups": groups})
    assert [group["completions"][0]["reward"] for group in answer["groups"]] == [1, 1]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=8,
)


@pytest.mark.slow
@given(st.text(min_size=1), st.dictionaries(st.text(), JSON, max_size=4))
def test_a_call_equals_itself_in_any_form(name: str, arguments: dict[str, Any]) -> None:
    call = {"name": name, "arguments": arguments}
    assume("<" not in json.dumps(call))  # tags of calls and of reasoning
    assert outcome(tagged(call), {"tool_calls": [call]}) == (1, "equal")
    assert outcome(json.dumps([call]), {"tool_calls": [call]}, form="json") == (1, "equal")


@pytest.mark.slow
@given(JSON, JSON)
def test_equality_is_symmetric(one: Any, other: Any) -> None:
    assert is_equal(one, one)
    assert is_equal(one, other) == is_equal(other, one)
