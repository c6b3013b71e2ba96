"""`structured_output`: six formats, their bounds, and documents that game a comparison."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from typing import Any

import httpx
import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service import strict_yaml
from verifier_service.completion import Completion
from verifier_service.structures.reading import BadDocument, read_document
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.json_schema import JsonSchema
from verifier_service.verifiers.structured_output import StructuredOutput

VALUE = {"name": "Ada", "age": 36, "tags": ["x", "y"], "ok": True, "ratio": 0.5}
ROWS = [{"city": "Paris", "count": 2}, {"city": "Rome", "count": 3}]
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
}
AS_XML = ("<p><name>Ada</name><age>36</age><tags>x</tags><tags>y</tags><ok>true</ok>"
          "<ratio>0.5</ratio></p>")  # fmt: skip
DOCUMENTS: dict[Any, tuple[str, Any]] = {
    "json": (json.dumps(VALUE), VALUE),
    "yaml": ("name: Ada\nage: 36\ntags: [x, y]\nok: true\nratio: 0.5\n", VALUE),
    "toml": ('name = "Ada"\nage = 36\ntags = ["x", "y"]\nok = true\nratio = 0.5\n', VALUE),
    "xml": (AS_XML, {"p": VALUE}),
    "csv": ("city,count\nParis,2\nRome,3\n", ROWS),
    "markdown_table": ("| city | count |\n|---|:-:|\n| Paris | 2 |\n| Rome | 3 |\n", ROWS),
}


def outcome(text: str, reference: dict[str, Any], **options: Any) -> tuple[float, str]:
    found = judge(StructuredOutput(**options), reference, text)
    return found.score, found.reason.value


@pytest.mark.parametrize("document_format", DOCUMENTS)
def test_a_document_of_each_format_has_its_value(document_format: Any) -> None:
    text, value = DOCUMENTS[document_format]
    tag = {"markdown_table": "markdown"}.get(document_format, document_format)
    options: dict[str, Any] = {"format": document_format}
    for form in (text, f"<think>no</think>\n{text}", f"Here:\n```{tag}\n{text}\n```\nDone."):
        assert outcome(form, {"value": value}, **options) == (1, "matched")
    wrong = text.replace("Ada", "Eve").replace("Paris", "Berlin")
    assert outcome(wrong, {"value": value}, **options) == (0, "different")
    assert outcome(text, {"value": text}, **options) == (1, "matched")


@pytest.mark.parametrize(
    ("document_format", "text"),
    [
        ("json", '{"name": "Ada", "age": 36}'),
        ("yaml", "name: Ada\nage: 36"),
        ("toml", 'name = "Ada"\nage = 36'),
    ],
)
def test_a_document_fits_a_schema(document_format: Any, text: str) -> None:
    for schema in (SCHEMA, json.dumps(SCHEMA)):
        reference = {"schema": schema}
        assert outcome(text, reference, format=document_format) == (1, "matched")
        wrong = text.replace("36", '"36"')
        assert outcome(wrong, reference, format=document_format) == (0, "invalid")


def test_texts_of_xml_and_tables_have_the_kinds_of_the_schema() -> None:
    schema = {"type": "object", "properties": {"p": {
        "type": "object", "required": ["tags"],
        "properties": {"age": {"type": "integer"}, "tags": {"type": "array", "minItems": 1}},
    }}}  # fmt: skip
    assert outcome("<p><age>36</age><tags>x</tags></p>", {"schema": schema}, format="xml")[0] == 1
    assert outcome("<p><age>old</age><tags>x</tags></p>", {"schema": schema}, format="xml")[0] == 0
    rows = {"type": "array", "items": {"type": "object",
                                       "properties": {"count": {"type": "number"}}}}  # fmt: skip
    assert outcome("city,count\nRome,3", {"schema": rows}, format="csv")[0] == 1
    assert outcome("city,count\nRome,many", {"schema": rows}, format="csv")[0] == 0


BILLION = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "\n".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE: list[tuple[Any, str]] = [
    ("json", '{"name": "Eve", "name": "Ada", "age": 36, "tags": ["x", "y"], "ok": true}'),
    ("json", json.dumps(VALUE).replace("0.5", "NaN")),
    ("json", json.dumps(VALUE).replace("36", "1e999")),
    ("json", json.dumps(VALUE).replace("36", "true")),
    ("json", json.dumps(VALUE).replace("36", '"36"')),
    ("json", json.dumps(VALUE).replace("true", "1")),
    ("json", json.dumps(VALUE).replace("36", "9" * 5000)),
    ("json", json.dumps({**VALUE, "more": 1})),
    ("json", json.dumps([VALUE])),
    ("json", json.dumps(VALUE) + json.dumps(VALUE)),
    ("json", json.dumps(VALUE)[:-1]),
    ("json", "// " + json.dumps(VALUE)),
    ("json", "[" * 100_000),
    ("json", "[" * 5000 + "]" * 5000),
    ("json", '{"a":' * 500 + "1" + "}" * 500),
    ("json", "[" + "1," * 99_000 + "1]"),
    ("json", "1" * 300_000),
    ("json", "It is so."),
    ("json", json.dumps({"name": {"Ada": 1}, "age": None})),
    ("yaml", BILLION),
    ("yaml", "a: &a [*a]"),
    ("yaml", "a: &a\n  b: *a"),
    ("yaml", "name: Ada\nname: Eve\nage: 36"),
    ("yaml", "!!python/object/apply:os.system ['echo 1']"),
    ("yaml", "!!python/name:os.system"),
    ("yaml", "- " * 2000),
    ("yaml", "{" * 1000),
    ("yaml", "? [a]\n: 1"),
    ("yaml", "a: !!binary aGk="),
    ("yaml", "a: !!set {x, y}"),
    ("yaml", "--- 1\n--- 2"),
    ("yaml", "name: Ada\nage: 36\ntags: x, y"),
    ("toml", "a = 1\na = 2"),
    ("toml", "a = nan"),
    ("toml", "[" * 1000),
    ("toml", "a." * 2000 + "b = 1"),
    ("toml", 'name = "Ada"\nage = 36.0000001'),
    ("xml", '<!DOCTYPE p [<!ENTITY a "Ada">]><p><name>&a;</name></p>'),
    ("xml", '<!DOCTYPE p SYSTEM "file:///etc/passwd"><p/>'),
    ("xml", "<a>" * 5000),
    ("xml", "<a>" * 100 + "</a>" * 100),
    ("xml", "<p><name>Ada</age></p>"),
    ("xml", AS_XML + AS_XML),
    ("xml", AS_XML.replace("<p>", "<p a='1'>")),
    ("xml", AS_XML.replace("36", "36 years")),
    ("csv", "city,count\nParis,2\nRome"),
    ("csv", "city,city\nParis,2\nRome,3"),
    ("csv", "city,count\nRome,3\nParis,2"),
    ("csv", 'city,count\n"Paris,2\nRome,3'),
    ("csv", "count,city\nParis,2\nRome,3"),
    ("markdown_table", "| city | count |\n|---|---|\n| Paris | 2 |\n"),
    ("markdown_table", DOCUMENTS["markdown_table"][0] * 2),
    ("markdown_table", "| city | count |\n| Paris | 2 |\n| Rome | 3 |"),
    ("markdown_table", "| city |\n|---|\n| Paris | 2 |\n| Rome | 3 |"),
    ("markdown_table", "|-" * 50_000),
]


@pytest.mark.parametrize(("document_format", "text"), HOSTILE)
def test_nothing_but_the_wanted_document_scores(document_format: Any, text: str) -> None:
    value = DOCUMENTS[document_format][1]
    assert outcome(text, {"value": value}, format=document_format)[0] == 0
    share = outcome(text, {"value": value}, format=document_format, scoring="fields")[0]
    assert 0 <= share < 1


@pytest.mark.parametrize(
    "text",
    [
        *("!!bool x", "!!int ''", "!!float ''", "!!int x", "!!timestamp x", "!!binary x", "<<: 1"),
        "1" + ":1" * 800 + ".5",
        "1" + ":1" * 90_000,
        "!!int " + "9" * 5_000,
        "[" * 101 + "]" * 101,
    ],
)
def test_what_the_reader_of_yaml_raises_is_a_wrong_document(text: str) -> None:
    """No error of the library becomes an error of ours."""
    found = outcome(f"```yaml\n{text}\n```", {"value": {"a": 1}}, format="yaml")
    assert found == (0, "not_a_document")


@pytest.mark.parametrize(
    ("document_format", "text", "value"),
    [
        ("yaml", "a: 1:30\nb: 0x1f\nc: 1e3\nd: 1.5e+3", {"a": 90, "b": 31, "c": "1e3", "d": 1500}),
        ("yaml", "a: " + "[" * 60 + "]" * 60, None),
        ("toml", ".".join("ab"[n % 2] for n in range(60)) + " = 1", None),
        ("toml", "host = 'a.b.c.d'\n[a.b]\n\"c.d\".e = 1", None),
        ("markdown_table", "a|b\n:-:|---\n1|2", [{"a": "1", "b": "2"}]),
        ("markdown_table", "| a |\n| - |\n| 1 |", [{"a": "1"}]),
    ],
)
def test_documents_within_the_bounds_are_read(document_format: Any, text: str, value: Any) -> None:
    found = read_document(text, document_format)
    assert value is None or found == value


@pytest.mark.parametrize(
    ("document_format", "before", "piece"),
    [
        ("yaml", "", "["),
        ("yaml", "", "{a: "),
        ("yaml", "1", ":1"),
        ("yaml", "", "- &a b\n- *a\n"),
        ("toml", "", "a."),
        ("toml", "", "ab . "),
        ("toml", "", '"\\"".'),
        ("toml", "[", "a."),
        ("toml", "", "a"),
        ("toml", "", '"'),
        ("markdown_table", "|a|\n", " "),
        ("markdown_table", "|a|\n", "-"),
        ("markdown_table", "|a|\n", "|:-"),
    ],
)
def test_time_grows_with_the_length_and_no_faster(
    document_format: Any, before: str, piece: str
) -> None:
    def read(text: str) -> None:
        with suppress(BadDocument):
            read_document(text, document_format)

    assert_linear(read, piece, before=before, after="x")


# What libyaml reads and PyYAML refuses, or the other way round, or as another value.
DIFFERENT_READERS = [
    *("!", "- !", "|#", "a: >-2# b", "a:\tb", "|\n  \tb", "\n\ufeffa: b", "a: b\n\ufeff"),
    *("[ye? s]", "{a: b?c}", "[? ]", "a: x\u2028y", "a:\u00a0b", "a: '\x07'", "%YAML 1.2\n--- a"),
]


@pytest.mark.parametrize("text", [*DIFFERENT_READERS, "a: &a [*a]", "&a [*a]", "--- 1\n-- 2"])
def test_yaml_has_the_value_that_pyyaml_reads(text: str) -> None:
    assert read_by_both(text)


YAML_PIECES = [
    *(
        "a",
        "b",
        "1",
        "-1.5",
        "true",
        "~",
        "'x'",
        '"y"',
        "é",
        "x y",
        "2001-01-01",
        "1:30",
        "http://a.b",
    ),
    *(
        ": ",
        ":",
        "- ",
        "-",
        "? ",
        "?",
        "[",
        "]",
        "{",
        "}",
        ", ",
        ",",
        "|",
        ">",
        "|-\n  ",
        "# c",
        " #",
    ),
    *(
        "\n",
        "\n  ",
        "\n- ",
        "\n    ",
        "\n---\n",
        "\n...\n",
        "&a ",
        "*a",
        "!!str ",
        "!x ",
        "<<: ",
        "\t",
        "'",
    ),
]


@given(st.lists(st.sampled_from(YAML_PIECES), max_size=12).map("".join))
def test_any_yaml_has_the_value_that_pyyaml_reads(text: str) -> None:
    assert read_by_both(text)


def read_by_both(text: str) -> bool:
    """Whether a text has the same value as its bytes, which always are PyYAML's to read."""

    def found(given: str | bytes) -> object:
        try:
            return repr(strict_yaml.load(given))
        except yaml.YAMLError as error:
            return type(error)
        except (ValueError, LookupError, AttributeError, TypeError) as error:
            return repr(error)

    return found(text) == found(text.encode())


@pytest.mark.parametrize(
    ("document_format", "text", "twin"),
    [
        ("yaml", "1: b\n0x1: a", "1: a\n2: b"),
        ("yaml", "1: b\n1.0: a", "1: a\n1.5: b"),
        ("yaml", "{1: b, 0b1: a}", "{1: a, 0b10: b}"),
        ("yaml", "1: b\n'1': a", "1: a\n'2': b"),
        ("yaml", "'1': b\n1: a", "'1': a\n2: b"),
        ("yaml", "~: b\nnull: a", "1: a"),
    ],
)
def test_keys_of_one_value_are_a_key_twice(document_format: Any, text: str, twin: str) -> None:
    options: dict[str, Any] = {"format": document_format, "paths": ["1"]}
    assert outcome(text, {"value": {"1": "a"}}, **options) == (0, "not_a_document")
    assert outcome(twin, {"value": {"1": "a"}}, **options) == (1, "matched")


def test_a_merged_key_may_be_given_anew() -> None:
    text = "base: &b {1: x, 2: y}\nown: {<<: *b, 1: z}"
    wanted = {"base": {"1": "x", "2": "y"}, "own": {"1": "z", "2": "y"}}
    assert outcome(text, {"value": wanted}, format="yaml") == (1, "matched")


LONG = f"0x{'f' * 5000}"


@pytest.mark.parametrize(
    "rule",
    [
        {"type": "string"},
        {"multipleOf": 0.5},
        {"multipleOf": 3},
        {"minimum": 1, "maximum": 2},
        {"enum": [1]},
        {"uniqueItems": True, "maxItems": 1},
    ],
)
@pytest.mark.parametrize(
    ("document_format", "text"),
    [
        *(("yaml", f"a: {number}") for number in (".nan", ".inf", "-.inf", "[.nan, .inf]")),
        *(("toml", f"a = {number}") for number in ("nan", "inf", "-inf", LONG, f"[{LONG}, 1]")),
        ("json", f'{{"a": {"9" * 4001}}}'),
    ],
)
def test_no_number_leaves_a_document_without_a_verdict(
    document_format: Any, text: str, rule: dict[str, Any]
) -> None:
    schema = {"properties": {"a": {"type": ["number", "array"], **rule}}}
    found = outcome(text, {"schema": schema}, format=document_format)
    assert found in [(0, "invalid"), (0, "not_a_document")]


def test_a_text_that_no_float_holds_is_no_number() -> None:
    schema = {"properties": {"a": {"type": "number", "multipleOf": 0.5}}}
    assert outcome("<a>9e999</a>", {"schema": schema}, format="xml") == (0, "invalid")
    assert outcome("<a>9e99</a>", {"schema": schema}, format="xml") == (1, "matched")


@pytest.mark.parametrize(
    ("text", "divisor", "is_multiple"),
    [
        ("19.99", 0.01, True),
        ("4.02", 0.01, True),
        ("0.07", 0.01, True),
        ("1e300", 0.01, True),
        ("9" * 290, 0.5, True),
        ("6", 3, True),
        ("6.0", 3, True),
        ("19.995", 0.01, False),
        ("0.07", 0.02, False),
        ("7", 3, False),
        ("1e-320", 0.01, False),
    ],
)
def test_a_multiple_is_one_in_decimals(text: str, divisor: float, is_multiple: bool) -> None:
    for draft in ("draft-04", "draft-07"):
        schema = {"$schema": f"http://json-schema.org/{draft}/schema#", "multipleOf": divisor}
        found = judge(JsonSchema(), {"schema": schema}, text)
        assert found.score == is_multiple
    assert outcome(text, {"schema": {"multipleOf": divisor}})[0] == is_multiple


def test_a_number_that_equals_no_other_can_be_met() -> None:
    assert outcome("a: .nan", {"value": "a: .nan"}, format="yaml") == (1, "matched")
    assert outcome("a: 1", {"value": "a: .nan"}, format="yaml") == (0, "different")
    assert outcome("a: .nan", {"value": "a: 1"}, format="yaml") == (0, "different")


def test_a_tolerance_of_a_number_beyond_floats_is_none() -> None:
    wanted, options = {"value": {"a": 10**400}}, {"tolerance": 0.5}
    assert outcome('{"a": 1}', wanted, **options) == (0, "different")
    assert outcome(json.dumps({"a": 10**400}), wanted, **options) == (1, "matched")


def test_fields_give_a_share_and_more_fields_cost() -> None:
    options = {"scoring": "fields"}
    wrong = {**VALUE, "age": 37}
    assert outcome(json.dumps(wrong), {"value": VALUE}, **options)[0] == pytest.approx(5 / 6)
    more = {**VALUE, **{f"guess{n}": n for n in range(6)}}
    assert outcome(json.dumps(more), {"value": VALUE}, **options)[0] == pytest.approx(6 / 12)
    assert outcome(json.dumps(VALUE), {"value": VALUE}, **options) == (1, "matched")


def test_equal_fields_in_another_form_are_not_the_value() -> None:
    found = outcome('{"0": 1}', {"value": [1]}, scoring="fields")
    assert found[0] < 1
    assert found[1] == "different"


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"a": 1000}', 0),
        ('{"a": 10}', 1),
        ('{"a": 190}', 1),
        ('{"a": 191}', 0),
        ('{"a": -100}', 0),
    ],
)
def test_a_tolerance_is_a_share_of_the_reference(text: str, score: float) -> None:
    assert outcome(text, {"value": {"a": 100}}, tolerance=0.9)[0] == score


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('Here is the JSON:\n{"a": 1}', "matched"),
        ('**Answer:**\n\n{"a": 1}', "matched"),
        ('Not {"a": 2}:\n{"a": 1}', "not_a_document"),
        ('Here:\nHere:\n{"a": 1}', "not_a_document"),
        ('Here is the JSON:\n{"a": 1}\nOr not.', "not_a_document"),
        ('Here is the JSON:\n{"a": 1}\n{"a": 2}', "not_a_document"),
    ],
)
def test_one_line_may_announce_a_document(text: str, reason: str) -> None:
    assert outcome(text, {"value": {"a": 1}})[1] == reason


def test_numbers_may_have_a_tolerance() -> None:
    text, reference = '{"a": [1.001, 5]}', {"value": {"a": [1, 5.0]}}
    assert outcome(text, reference)[0] == 0
    assert outcome(text, reference, tolerance=0.01)[0] == 1
    assert outcome(text.replace("1.001", "1.1"), reference, tolerance=0.01)[0] == 0
    assert outcome(text.replace("1.001", "9" * 400), reference, tolerance=0.01)[0] == 0


def test_rows_may_have_no_order() -> None:
    text = "city,count\nRome,3\nParis,2"
    options: dict[str, Any] = {"format": "csv", "row_order": False}
    assert outcome(text, {"value": ROWS}, **options)[0] == 1
    assert outcome(text.replace("Rome,3", "Paris,2"), {"value": ROWS}, **options)[0] == 0
    swapped = json.dumps([{"count": 3.0, "city": "Rome"}, ROWS[0]])
    assert outcome(swapped, {"value": ROWS}, row_order=False)[0] == 1


def test_paths_choose_what_is_compared() -> None:
    reference = {"value": {"a": [{"b": 1}], "c": 2}}
    text = '{"a": [{"b": 1, "x": 0}], "c": 3}'
    assert outcome(text, reference, paths=["a.0.b"])[0] == 1
    assert outcome(text, reference, paths=["a.0.b", "c"])[0] == 0
    assert outcome(text, reference, paths=["a.0.b", "c"], scoring="fields")[0] == 0.5
    with pytest.raises(Unverifiable, match="nothing at the path d"):
        judge(StructuredOutput(paths=["d"]), reference, text)


@pytest.mark.parametrize(
    ("reference", "options", "message"),
    [
        ({}, {}, "reference.schema or reference.value is needed"),
        ({"schema": {"type": "what"}}, {}, "no JSON Schema"),
        ({"schema": "{"}, {}, "a text that is no JSON"),
        ({"schema": [1]}, {}, "found a list"),
        ({"value": "{"}, {}, "a text that is no document"),
        ({"value": {"a": 1}}, {"row_order": False}, "found an object, expected a list"),
        ({"value": {"a": 1}, "schema": {"type": "array"}}, {}, "value: it breaks the rule `type`"),
        (
            {"value": [{"a": 1}], "schema": {"items": {"required": ["b"]}}},
            {"row_order": False},
            "value: it breaks the rule `required`",
        ),
    ],
)
def test_a_wrong_reference_is_named(
    reference: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    with pytest.raises(Unverifiable, match=message):
        judge(StructuredOutput(**options), reference, "{}")


def test_a_wanted_value_may_break_the_schema_where_another_document_can_be_right() -> None:
    reference = {"value": {"a": "1"}, "schema": {"properties": {"a": {"type": "string"}}}}
    typed = {"value": {"a": 1}, "schema": {"properties": {"a": {"type": "string"}}}}
    assert outcome("<a>1</a>", reference, format="xml")[0] == 1
    assert outcome("<a>1</a>", typed, format="xml")[0] == 1
    whole = {"value": {"a": 1}, "schema": {"required": ["a", "b"]}}
    assert outcome('{"a": 1, "b": 2}', whole, paths=["a"])[0] == 1


def test_a_schema_and_a_value_must_both_be_met() -> None:
    reference = {"schema": SCHEMA, "value": {"name": "Ada", "age": 36}}
    assert outcome('{"name": "Ada", "age": 36}', reference) == (1, "matched")
    assert outcome('{"name": "Ada", "age": 37}', reference) == (0, "different")
    assert outcome('{"name": "Ada"}', reference) == (0, "invalid")


def test_no_answer_is_no_document() -> None:
    assert outcome("", {"value": 1}) == (0, "no_answer")
    assert outcome("<think>{}", {"value": {}}) == (0, "no_answer")
    two = "<answer>1</answer><answer>2</answer>"
    assert outcome(two, {"value": 1}) == (0, "ambiguous_answer")


def test_workers_read_every_format(http: httpx.Client) -> None:
    for name, (text, value) in DOCUMENTS.items():
        verifier = {"type": "structured_output", "format": name}
        (found,) = verdicts(http, verifier, text, value=value)
        assert (found["score"], found["reason"]) == (1, "matched"), name


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(), inside, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(JSON.filter(lambda value: not isinstance(value, str)))
def test_a_document_has_the_value_that_it_was_made_of(value: Any) -> None:
    text = json.dumps(value)
    options: dict[str, Any] = {"part": "completion"}
    assert outcome(text, {"value": value}, **options) == (1, "matched")
    assert outcome(text, {"value": value}, scoring="fields", **options)[0] == 1


PERSON = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2},
        "age": {"type": "integer", "minimum": 0},
        "tags": {"type": "array", "items": {"enum": ["x", "y"]}, "maxItems": 2},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("document_format", ["json", "yaml", "toml"])
def test_70_generated_documents_have_the_label_of_another_implementation(
    document_format: Any,
) -> None:
    """The labels are those of jsonschema on what json, PyYAML and tomllib read."""
    readers: dict[str, Callable[[str], Any]] = {
        "json": json.loads,
        "yaml": yaml.safe_load,
        "toml": tomllib.loads,
    }
    validator = jsonschema.Draft202012Validator(PERSON)
    judged = StructuredOutput(format=document_format).prepare({"schema": PERSON})
    values = product(
        ['"Ada"', '"A"', "7", None], ["36", "-1", "3.5", '"36"', None], ['["x"]', '["z"]', None]
    )
    found = Counter[bool]()
    for written in values:
        fields = (
            {"age": "1"}
            if not any(written)
            else {
                name: one for name, one in zip(("name", "age", "tags"), written, strict=True) if one
            }
        )
        for more in ({}, {"more": "1"}) if len(fields) > 1 else ({},):
            text = _written(document_format, {**fields, **more})
            wanted = validator.is_valid(readers[document_format](text))
            assert (judged(Completion(text)).score == 1) == wanted, text  # type: ignore[union-attr]
            found[wanted] += 1
    assert found.total() > 70
    assert found[True] > 1


def _written(document_format: str, fields: dict[str, str]) -> str:
    if document_format == "json":
        return "{" + ", ".join(f'"{name}": {value}' for name, value in fields.items()) + "}"
    sign = ": " if document_format == "yaml" else " = "
    return "\n".join(f"{name}{sign}{value}" for name, value in fields.items())


@pytest.mark.parametrize(("tag", "is_read"), [("json5", 1), ("jsonc", 1), ("JSON", 1), ("js", 0)])
def test_a_block_of_a_dialect_of_json_is_read_as_json(tag: str, is_read: float) -> None:
    for verifier in (StructuredOutput(), JsonSchema()):
        for text, fits in [('{"a": 1}', 1), ('{"a": 1, }', 0), ("{a: 1}", 0), ("// a\n{}", 0)]:
            found = judge(verifier, {"schema": {"required": ["a"]}}, f"So:\n```{tag}\n{text}\n```")
            assert found.score == is_read * fits


def test_a_schema_that_is_none_is_named_where_it_stands() -> None:
    with pytest.raises(Unverifiable, match=r"^reference\.schema: it is no JSON Schema"):
        judge(JsonSchema(), {"schema": {"type": "what"}}, "{}")
    with pytest.raises(Unverifiable, match=r"^option schema: it is no JSON Schema"):
        judge(JsonSchema.model_validate({"schema": {"type": "what"}}), {}, "{}")
