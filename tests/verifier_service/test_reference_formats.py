"""Rows as data sets ship them: each read by its own format, and judged by it."""

from __future__ import annotations

import base64
import json
import pickle
import re
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import httpx
import pytest

from reward_verifier.completion_group import row_reference
from tests.data_set_rows import CASES, DATA_SET_ROWS, TESTS, DataSetRow, packed
from verifier_service.reference_formats.reading import FORMATS, read_row, resolved
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers import VERIFIERS

DOCUMENT = Path(__file__).parents[2] / "docs" / "datasets.md"
JUDGED = [one for one in DATA_SET_ROWS if one.right and one.verifier in VERIFIERS]


def named(rows: list[DataSetRow]) -> list[Any]:
    return [pytest.param(one, id=one.data_set) for one in rows]


def refusal(row: dict[str, Any], name: str = "auto") -> str:
    with pytest.raises(Unverifiable) as caught:
        read_row(row, name)
    assert caught.value.reason == "bad_reference"
    return str(caught.value)


@pytest.mark.parametrize("case", named(DATA_SET_ROWS))
def test_a_row_is_read_by_its_format(case: DataSetRow) -> None:
    for name in ("auto", case.format):
        reading = read_row(case.row, name)
        assert (reading.verifier, reading.reference) == (case.verifier, case.reference)


def test_every_format_has_rows_and_stands_in_the_document() -> None:
    assert {one.format for one in DATA_SET_ROWS} == FORMATS.keys()
    text = DOCUMENT.read_text()
    for one in FORMATS.values():
        columns = ", ".join(f"`{column}`" for column in one.columns)
        assert f"| `{one.name}` | {one.data_sets} | {columns} |" in text


def test_right_completions_get_their_reward_over_the_wire(http: httpx.Client) -> None:
    groups = [
        {
            "id": one.data_set,
            "reference": one.row,
            "reference_format": "auto",
            "completions": [one.right, "I, for one, do not know."],
            "verifiers": [{"type": one.verifier}],
        }
        for one in JUDGED
    ]
    response = http.post("/v1/score", json={"groups": groups})
    assert response.status_code == 200, response.text
    scored = {
        group["id"]: [one["reward"] for one in group["completions"]]
        for group in response.json()["groups"]
    }
    expected = {one.data_set: 1.0 for one in JUDGED}
    assert {name: right for name, (right, _) in scored.items()} == expected
    assert {name for name, (_, wrong) in scored.items() if wrong not in (0.0, 0)} == set()


@pytest.mark.slow
def test_the_command_reads_rows_too(tmp_path: Path) -> None:
    rows = [{**one.row, "completion": one.right} for one in JUDGED if one.verifier == "accuracy"]
    file, out = tmp_path / "rows.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ["--verifier", "accuracy", "--reference-format", "auto", "--workers", "1"]
    command = [sys.executable, "-m", "verifier_service", "score", str(file), "--out", str(out)]
    subprocess.run([*command, *flags], check=True, capture_output=True, timeout=600)
    scored = [json.loads(line) for line in out.read_text().splitlines()]
    assert [group["completions"][0]["reward"] for group in scored] == [1.0] * len(rows)


def test_an_adapters_reference_stands_for_the_row(http: httpx.Client) -> None:
    row = {"problem": "2 + 2?", "solution": r"It is $\boxed{4}$."}
    group = {"reference": row_reference(row, "auto"), "completions": [r"\boxed{4}"]}
    body = {"verifiers": [{"type": "accuracy"}], "groups": [group]}
    response = http.post("/v1/score", json=body).raise_for_status()
    assert response.json()["groups"][0]["completions"][0]["reward"] == 1.0


def test_an_unknown_row_is_told_its_columns_and_the_nearest_formats(http: httpx.Client) -> None:
    group = {
        "reference": {"question": "?", "db_id": "shop"},
        "reference_format": "auto",
        "completions": ["4"],
    }
    body = {"verifiers": [{"type": "accuracy"}], "groups": [group]}
    response = http.post("/v1/score", json=body).raise_for_status()
    verdict = response.json()["groups"][0]["completions"][0]["verdicts"]["accuracy"]
    assert (verdict["outcome"], verdict["reason"]) == ("unverifiable", "bad_reference")
    message = verdict["details"]["message"]
    assert "its columns: db_id, question" in message
    assert "bird: SQL, db_id" in message
    assert "spider: query, db_id" in message


def test_an_unknown_format_is_refused(http: httpx.Client) -> None:
    group = {"reference": {"answer": "4"}, "reference_format": "solutions", "completions": ["4"]}
    response = http.post("/v1/score", json={"verifiers": [{"type": "accuracy"}], "groups": [group]})
    assert response.status_code == 422
    assert "solution" in response.json()["error"]["message"]
    with pytest.raises(Unverifiable, match="no format 'solutions'"):
        resolved({"reference_row": {"answer": "4"}, "reference_format": "solutions"})
    with pytest.raises(Unverifiable, match=r"no format 'zzz' of auto, .*, reasoning_gym"):
        resolved({"reference_row": {"answer": "4"}, "reference_format": "zzz"})
    with pytest.raises(Unverifiable, match="found a list"):
        resolved({"reference_row": [], "reference_format": "auto"})


def test_nothing_is_guessed_where_two_formats_fit() -> None:
    row = {"answer": "4", "test_list": ["assert f(1) == 4"], "input_output": json.dumps(TESTS)}
    message = refusal(row)
    assert "the row fits apps and mbpp, which differ" in message
    assert read_row(row, "mbpp").reference["tests"]["code"] == "assert f(1) == 4"


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"answer": ""},
        {"answer": None, "solution": " "},
        {"answer": {"a": 1}},
        {"answer": ["4", None]},
        {"solution": 4},
        {"options": ["3", "4"], "answer": "C"},
        {"options": ["3", "4"], "answer": 2},
        {"options": ["3", 4], "answer": "A"},
        {"choices": {"text": ["3"], "label": ["A", "B"]}, "answerKey": "A"},
        {"input_output": "no JSON"},
        {"input_output": json.dumps({"inputs": ["1"]})},
        {"input_output": json.dumps({"inputs": "1", "outputs": "2"})},
        {"test_cases": [{"input": "1"}]},
        {"test_cases": [{**CASES[0], "type": "stdin_stdout"}, {**CASES[1], "type": "functional"}]},
        {"test_cases": [{**CASES[0], "type": "functional"}]},
        {"test_list": [1, 2]},
        {"test": "x = 1", "solution": "def f(): ..."},
        {"reward_model": "rule"},
        {"reward_model": {"style": "rule"}},
        {"ground_truth": {"a": 1}},
        {"verification_info": "none"},
        {"Question": "?", "Correct Answer": "4", "Incorrect Answer 1": "5"},
    ],
)
def test_a_row_of_no_format_is_refused(row: dict[str, Any]) -> None:
    assert "no format fits it" in refusal(row)


class _Opens:
    """Pickles to a call of `open`, as a hostile pickle does."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return open, (str(self._path), "w")


def live_code_bench(private: str) -> dict[str, Any]:
    public = json.dumps([{**CASES[0], "testtype": "stdin"}])
    return {"public_test_cases": public, "private_test_cases": private}


def test_a_pickle_that_calls_is_not_read(tmp_path: Path) -> None:
    made = tmp_path / "made"
    hostile = base64.b64encode(zlib.compress(pickle.dumps(_Opens(made)))).decode()
    refusal(live_code_bench(hostile))
    assert not made.exists()
    assert read_row(live_code_bench(packed([{**CASES[1], "testtype": "stdin"}])))


@pytest.mark.slow
def test_a_pickle_that_unpacks_to_gigabytes_is_not_read() -> None:
    bomb = zlib.compressobj(9)
    text = b"".join(bomb.compress(bytes(2**20)) for _ in range(100)) + bomb.flush()
    refusal(live_code_bench(base64.b64encode(text).decode()))


def test_deep_texts_are_refused_and_literals_are_not_run() -> None:
    refusal({"input_output": "[" * 100_000})
    refusal({"verification_info": "{'a': " * 5000})
    refusal({"verification_info": "{'ground_truth': open('x')}"})


@pytest.mark.parametrize(
    ("prompt", "test", "helpers"),
    [
        ("def a():\n    return 1\ndef f(x):\n    'Do.'\n", "assert f(1) == a()", ["a"]),
        ("import math\ndef a(): return 1\nclass B: pass\n", "assert f(B()) == 1", ["a", "B"]),
        ("def a():\n    return 1\ndef f(x):\n    'Do.'\n", "assert f(1) == 1", []),
        ("def a(): return 1\n", "def a(): return 2\nassert f(1) == a()", []),
        ("def f(x):\n    'Do.'\n", "assert f(1) == f(1)", []),
        ("def a(): return 1\ndef f(x):\n", "assert f(1) == a()", []),
        ("def a(): return 1\nclass B: pass\n", "class B: pass\nassert f(B()) == a()", ["a", "B"]),
        ("def a():\n    'Do.'\ndef f(x): ...\n", "assert f(1) == a()", []),
        ("class B:\n    def b(self): pass\n", "assert f(B()) == 1", []),
        ("x = 0x" + "f" * 5000 + "\ndef a(): return 1\n", "assert f(1) == a()", []),
        (f"x = {'1 + ' * 2000}1\ndef a(): return 1\n", "assert f(1) == a()", []),
        ("Write f, and a.", "assert f(1) == a()", []),
        ([{"role": "user", "content": "def a(): return 1"}], "assert f(1) == a()", []),
    ],
)
def test_what_the_prompt_defines_and_the_tests_call_is_no_name_of_the_program(
    prompt: Any, test: str, helpers: list[str]
) -> None:
    row = {"prompt": prompt, "test": test, "entry_point": "f"}
    code = read_row(row).reference["tests"]["code"]
    assert code.endswith(test)
    found = code.removesuffix(test)
    assert [
        name for name in ("a", "f", "B") if re.search(rf"(def|class) {name}\b", found)
    ] == helpers


def test_cases_of_code_contests_with_other_keys_are_not_taken_for_its_own() -> None:
    refusal({"public_tests": [{"stdin": "1", "stdout": "2"}], "name": "x"})
