"""SandboxFusion's data set endpoints: rows that a caller posts, and completions judged by them."""

from __future__ import annotations

import base64
import json
import pickle
import zlib
from typing import Any

import httpx
import pytest

from verifier_service.compat.data_sets.answered_code import first_program
from verifier_service.compat.data_sets.common_oj import _same_lines
from verifier_service.compat.data_sets.cruxeval import _is_plain, _is_plain_call
from verifier_service.plain_pickle import (
    MAX_INSTRUCTIONS,
    UnreadablePickle,
    plain_value,
    unpacked,
)

HUMAN = {
    "task_id": "test/0",
    "prompt": "def twice(n: int) -> int:\n    '''Twice n.'''\n",
    "canonical_solution": "    return 2 * n\n",
    "test": "def check(candidate):\n    assert candidate(3) == 6\n    assert candidate(0) == 0\n",
    "entry_point": "twice",
}
MBPP = {
    "id": 11,
    "content": "Write a function that doubles a number.",
    "labels": '{"test_setup_code": "BASE = 2", "challenge_test_list": []}',
    "test_list": ["assert twice(2) == 4", "assert twice(5) == 10"],
}
CONTEST = {
    "id": 17,
    "content": "Print the square of the number.",
    "labels": {},
    "test": [
        {"input": {"stdin": f"{n}\n"}, "output": {"stdout": f"{n * n}\n"}} for n in range(3, 6)
    ],
}
CRUX = {"id": "s0", "code": "def f(a):\n    return a[::-1]", "input": "[1, 2]", "output": "[2, 1]"}
LIVE = {
    "id": 1,
    "content": "Question",
    "labels": "{}",
    "test": {"input_output": json.dumps({"inputs": ["3\n", "4"], "outputs": ["9\n", "16"]})},
}
CALLS = {
    **LIVE,
    "test": json.dumps(
        {
            "input_output": json.dumps(
                {"inputs": ["[1, 2]\n3"], "outputs": ["6"], "fn_name": "total"}
            )
        }
    ),
}
TOTAL = "class Solution:\n    def total(self, xs: List[int], y: int) -> int:\n        return {}"


def fenced(code: str, tag: str = "python") -> str:
    return f"Here it is:\n```{tag}\n{code}\n```\nDone."


def packed(value: Any, protocol: int | None = None) -> str:
    return base64.b64encode(zlib.compress(pickle.dumps(value, protocol))).decode()


def ask(http: httpx.Client, path: str, status: int = 200, **fields: Any) -> Any:
    response = http.post(path, json={"config": {}, **fields})
    assert response.status_code == status, response.text
    return response.json()


def submit(
    http: httpx.Client, data_set: str, row: Any, completion: str, status: int = 200, **config: Any
) -> Any:
    config = {"provided_data": row, **config}
    body = {"dataset": data_set, "id": 0, "completion": completion, "config": config}
    return ask(http, "/submit", status, **body)


RIGHT_AND_WRONG = [
    ("humaneval_python", HUMAN, "    return 2 * n\n\ndef more():\n    pass", {}, True),
    ("humaneval_python", HUMAN, "    return n * n", {}, False),
    ("humaneval_python", HUMAN, "    import os; os._exit(0)", {}, False),
    ("humaneval_python", HUMAN, "    raise SystemExit(0)", {}, False),
    (
        "humaneval_python",
        HUMAN,
        fenced("from typing import List\ndef twice(n):\n    return n + n"),
        {"extra": {"is_freeform": True}},
        True,
    ),
    ("humaneval_python", HUMAN, "No code.", {"extra": {"is_freeform": True}}, False),
    ("mbpp", MBPP, fenced("def twice(n):\n    return BASE * n\nassert False"), {}, True),
    ("mbpp", MBPP, "[BEGIN]\ndef twice(n):\n    return 2 * n\n[DONE]\nnothing", {}, True),
    ("mbpp", MBPP, fenced("def twice(n):\n    return n * n"), {}, False),
    ("mbpp", MBPP, fenced("import sys\nsys.exit(0)"), {}, False),
    ("mbpp", MBPP, fenced("def twice(n):\n    while True: pass"), {"run_timeout": 0.3}, False),
    ("code_contests", CONTEST, fenced("print(int(input())**2)"), {"language": "python"}, True),
    ("code_contests", CONTEST, fenced("print(9)"), {"language": "python"}, False),
    ("code_contests", CONTEST, fenced("import os; os._exit(0)"), {"language": "python"}, False),
    (
        "code_contests",
        CONTEST,
        fenced(
            "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n*n; }", "cpp"
        ),
        {"language": "cpp"},
        True,
    ),
    ("live_code_bench_v1", LIVE, fenced("print(int(input()) ** 2)"), {}, True),
    ("live_code_bench_v1", LIVE, fenced("print(int(input()) + 6)"), {}, False),
    ("live_code_bench_v1", CALLS, fenced(TOTAL.format("sum(xs) + y")), {}, True),
    ("live_code_bench_v1", CALLS, fenced(TOTAL.format("y")), {}, False),
    ("live_code_bench_v1", CALLS, fenced("import os\nos._exit(0)"), {}, False),
    ("cruxeval", CRUX, "[ANSWER]\nassert f([1, 2]) == [2, 1]\n[/ANSWER]", {}, True),
    ("cruxeval", CRUX, "[ANSWER] [2, 1] [/ANSWER]", {"extra": {"mode": "output"}}, True),
    ("cruxeval", CRUX, "[ANSWER] [1, 2] [/ANSWER]", {"extra": {"mode": "output"}}, False),
    ("cruxeval", CRUX, "[ANSWER] f([1, 2]) [/ANSWER]", {"extra": {"mode": "output"}}, False),
    ("cruxeval", CRUX, "f([1] + [2])", {"extra": {"mode": "input"}}, True),
    ("cruxeval", CRUX, "True or f", {"extra": {"mode": "input"}}, False),
    (
        "cruxeval",
        CRUX,
        "f(exec('f = lambda a: [2, 1]'))",
        {"extra": {"mode": "input"}},
        False,
    ),
]


@pytest.mark.parametrize(("data_set", "row", "completion", "config", "accepted"), RIGHT_AND_WRONG)
def test_a_completion_is_judged_by_a_posted_row(
    http: httpx.Client,
    data_set: str,
    row: Any,
    completion: str,
    config: dict[str, Any],
    accepted: bool,
) -> None:
    found = submit(http, data_set, row, completion, **config)
    assert found["accepted"] is accepted, found
    assert found["id"] == 0
    assert [test["passed"] for test in found["tests"]][-1] is accepted
    statuses = [test["exec_info"]["status"] for test in found["tests"]]
    assert set(statuses) <= {"Success", "Failed"}


def test_an_evaluation_has_sandbox_fusions_form(http: httpx.Client) -> None:
    found = submit(http, "mbpp", MBPP, fenced("def twice(n):\n    return 3"))
    assert found.keys() == {
        *("id", "accepted", "extracted_code", "full_code", "test_code", "tests"),
        *("extracted_type", "extra"),
    }
    (test,) = found["tests"]
    assert test.keys() == {"passed", "exec_info", "test_info"}
    assert test["exec_info"].keys() == {
        *("status", "message", "compile_result", "run_result", "executor_pod_name", "files")
    }
    assert test["exec_info"]["run_result"]["return_code"] == 1
    live = submit(http, "live_code_bench_v1", LIVE, fenced("print(1)"))
    assert "Wrong Answer" in live["tests"][0]["exec_info"]["run_result"]["stdout"]


def test_the_kind_may_be_named_where_the_data_set_is_unknown(http: httpx.Client) -> None:
    found = submit(
        http, "mine", MBPP, fenced("def twice(n):\n    return n + n"), dataset_type="MBPPDataset"
    )
    assert found["accepted"] is True


def test_a_contest_stops_at_the_first_failure_unless_all_are_asked_for(http: httpx.Client) -> None:
    program = fenced("print(16)")
    found = submit(http, "code_contests", CONTEST, program, language="python")
    assert [test["passed"] for test in found["tests"]] == [False]
    extra = {"run_all_cases": True}
    found = submit(http, "code_contests", CONTEST, program, language="python", extra=extra)
    assert [test["passed"] for test in found["tests"]] == [False, True, False]


def test_a_contest_may_have_files(http: httpx.Client) -> None:
    case = {"input": {"stdin": "", "in.txt": "5"}, "output": {"out.txt": "25"}}
    program = fenced("open('out.txt', 'w').write(str(int(open('in.txt').read()) ** 2))")
    row = {**CONTEST, "test": [case]}
    assert submit(http, "code_contests", row, program, language="python")["accepted"] is True


def test_prompts_and_ids(http: httpx.Client) -> None:
    rows = {"provided_data": [MBPP, {**MBPP, "id": 12}]}
    found = ask(http, "/get_prompts", dataset="mbpp", config=rows)
    assert [one["id"] for one in found] == [11, 12]
    assert found[0].keys() == {"id", "prompt", "labels"}
    assert "assert twice(5) == 10" in found[0]["prompt"]
    assert ask(http, "/list_ids", dataset="mbpp", config=rows) == [11, 12]
    assert ask(http, "/list_ids", dataset="mbpp", config=rows, offset=1) == [12]
    one = ask(http, "/get_prompt_by_id", dataset="mbpp", id=11, config={"provided_data": MBPP})
    assert one == found[0]


def test_cruxeval_asks_for_inputs_first_and_then_for_outputs(http: httpx.Client) -> None:
    config = {"provided_data": [CRUX, {**CRUX, "id": "s1"}]}
    found = ask(http, "/get_prompts", dataset="cruxeval", config=config)
    assert [(one["id"], one["labels"]["mode"]) for one in found] == [
        *(("s0", "input"), ("s1", "input"), ("s0", "output"), ("s1", "output"))
    ]
    extra = {"use_cot": True, "mode": "output"}
    (cot, _) = ask(http, "/get_prompts", dataset="cruxeval", config={**config, "extra": extra})
    assert cot["prompt"].endswith("assert f([1, 2]) == ??\n[/PYTHON]\n[THOUGHT]\n")


@pytest.mark.parametrize(
    ("data_set", "row"), [("humaneval_python", HUMAN), ("code_contests", CONTEST), ("x", LIVE)]
)
def test_other_kinds_have_prompts_too(http: httpx.Client, data_set: str, row: Any) -> None:
    config = {"provided_data": [row], "dataset_type": "LiveCodeBenchDataset"}
    (found,) = ask(http, "/get_prompts", dataset=data_set, config=config)
    assert row.get("content", row.get("prompt")) in found["prompt"]


def test_metrics_are_the_share_of_accepted_completions(http: httpx.Client) -> None:
    one = submit(http, "mbpp", MBPP, fenced("def twice(n):\n    return n + n"))
    results = [one, {**one, "accepted": False}]
    found = ask(http, "/get_metrics", dataset="mbpp", results=results)
    assert found == {"total": 2.0, "accepted": 1.0, "accuracy": 0.5}
    assert "mbpp" in http.get("/list_datasets").json()


@pytest.mark.parametrize(
    ("config", "status", "said"),
    [
        ({}, 400, "the rows of 'mbpp' live in SandboxFusion's database, which is not here"),
        ({"provided_data": [MBPP]}, 400, "found list; post one row"),
        ({"provided_data": {"id": 1}}, 422, "no column 'test_list'; there are 'id'"),
        ({"provided_data": {**MBPP, "test_list": "[1"}}, 422, "test_list is a text that is not"),
        ({"provided_data": {**MBPP, "test_list": 3}}, 422, "found int, expected list or str"),
        ({"provided_data": MBPP, "custom_extract_logic": "x"}, 422, "code for the server"),
    ],
)
def test_a_row_that_cannot_be_used_is_refused_by_name(
    http: httpx.Client, config: dict[str, Any], status: int, said: str
) -> None:
    body = {"dataset": "mbpp", "id": 1, "completion": "", "config": config}
    error = ask(http, "/submit", status, **body)["error"]
    assert said in error["message"]


@pytest.mark.parametrize("name", ["checker", "tolerance", "eval_type", "scoring", "comparator"])
def test_a_row_that_names_another_rule_is_refused(http: httpx.Client, name: str) -> None:
    right = "    return 2 * n\n"
    rule, place = {name: "special"}, f"config.provided_data: ['{name}']"
    error = submit(http, "humaneval_python", {**HUMAN, **rule}, right, 422)["error"]
    assert place in error["message"]
    error = submit(http, "humaneval_python", HUMAN, right, 422, extra=rule)["error"]
    assert "config.extra: [" in error["message"]
    error = submit(http, "humaneval_python", HUMAN, right, 422, **rule)["error"]
    assert name in error["message"]
    twin = {**HUMAN, "difficulty": "hard", name: None}
    assert submit(http, "humaneval_python", twin, right)["accepted"]


def test_other_kinds_and_languages_are_refused_by_name(http: httpx.Client) -> None:
    error = submit(http, "x", {}, "", 400, dataset_type="AutoEvalDataset")["error"]
    assert "'AutoEvalDataset'; expected one of ['CommonOJDataset'" in error["message"]
    cpp = {"name": "a", "prompt": "", "tests": "int main() {}", "language": "cpp"}
    error = submit(http, "humaneval_cpp", cpp, "", 422, dataset_type="HumanEvalDataset")["error"]
    assert "run them with /run_code" in error["message"]
    error = submit(http, "code_contests", CONTEST, "", 422, language="cobol")["error"]
    assert "config.language is 'cobol'" in error["message"]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_packed_tests_are_read(http: httpx.Client, protocol: int) -> None:
    row = {**LIVE, "test": packed(LIVE["test"], protocol)}
    program = fenced("print(int(input()) ** 2)")
    assert submit(http, "live_code_bench_v1", row, program)["accepted"] is True
    tests = ["assert add(1, 2) == 3", "assert add(1, 2) == 4"]
    body = {"program": "def add(a, b):\n    return a + b", "tests": packed(tests, protocol)}
    assert http.post("/test_program", json=body).json()["results"] == [1, 0]
    body["tests"] = packed(json.dumps(tests), protocol)
    assert http.post("/test_program", json=body).json()["results"] == [1, 0]


class Calls:
    """An object whose pickle calls a function."""

    def __reduce__(self) -> Any:
        return print, ("read",)


HUGE_PLACE = b"\x80\x04]r\xff\xff\xff\x7f."
"""A pickle that puts an empty list into place 2**31, for which the unpickler would make room."""


def doubled(value: Any, num_times: int) -> Any:
    for _ in range(num_times):
        value = [value, value]
    return value


def within_itself() -> Any:
    value: list[Any] = []
    value.append({"input": value})
    return value


def test_lists_that_stand_in_several_places_are_read() -> None:
    assert plain_value(pickle.dumps(doubled("a", 10))) == doubled("a", 10)


@pytest.mark.parametrize(
    ("pickled", "said"),
    [
        (pickle.dumps(doubled("a", 60)), "more than 200000 values"),
        (pickle.dumps(doubled({"input": ("1",)}, 60)), "more than 200000 values"),
        (pickle.dumps(within_itself()), "more than 200000 values"),
        (pickle.dumps(Calls()), "instruction (STACK_)?GLOBAL"),
        (pickle.dumps(Calls(), 0), "instruction GLOBAL"),
        (b"cos\nsystem\n.", "instruction GLOBAL"),
        (b"\x80\x04\x82\x01.", "instruction EXT1"),
        (b"Pid\n.", "instruction PERSID"),
        (HUGE_PLACE, "into place 2147483647"),
        (b"\x80\x04\x96\xff\xff\xff\xff\xff\xff\xff\x7f.", "no whole pickle|BYTEARRAY8"),
        (b"\x80\x04N" + b"N" * MAX_INSTRUCTIONS, "instructions"),
        (b"\x80\x04(.", "no whole pickle"),
        (b"", "no whole pickle"),
    ],
)
def test_a_pickle_that_is_no_plain_data_is_not_run(pickled: bytes, said: str) -> None:
    with pytest.raises(UnreadablePickle, match=said):
        plain_value(pickled)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("%%%", "no base64"),
        (base64.b64encode(b"plain").decode(), "no base64 of zlib"),
        (base64.b64encode(zlib.compress(bytes(2**20))[:-9]).decode(), "breaks off"),
    ],
)
def test_a_text_that_is_not_packed_is_refused(text: str, said: str) -> None:
    with pytest.raises(UnreadablePickle, match=said):
        unpacked(text)


def test_a_packed_text_that_becomes_a_large_one_is_refused() -> None:
    text = base64.b64encode(zlib.compress(bytes(65 * 2**20))).decode()
    with pytest.raises(UnreadablePickle, match="when unpacked"):
        unpacked(text)


@pytest.mark.slow
def test_large_packed_tests_are_read_in_a_process_of_their_own(http: httpx.Client) -> None:
    tests = packed([{"input": "x" * (2 * 2**20), "output": "2097152"}])
    body = {"program": "print(len(input()))", "tests": tests, "max_execution_time": 10}
    response = http.post("/test_program_stdio", json=body)
    assert response.json().get("results") == [1], response.text


@pytest.mark.parametrize(
    ("printed", "expected", "same"),
    [
        ("YES\n", "yes", True),
        ("1.000001\n", "1.0", True),
        ("1.1", "1.0", False),
        ("1000000000", "1000000001", True),
        ("a\n\nb", "a\nb", False),
        (" a \nb", "a\nb\n\n", True),
        ("nan", "1", False),
        ("5", "inf", False),
        ("1e999", "1e999", True),
        ("5", "1e999", False),
        ("", "", True),
    ],
)
def test_lines_of_a_contest_are_compared_as_sandbox_fusion_does(
    printed: str, expected: str, same: bool
) -> None:
    assert _same_lines(printed, expected) is same


@pytest.mark.parametrize(
    ("text", "language", "program"),
    [
        ("```python\na\n```\n```python\nb\n```", "python", "a\n"),
        ("```bash\nb\n```\n```py\na\n```", "python", "a\n"),
        ("```bash\nb\n```", "python", "b\n"),
        ("x\n```python\na\nb", "python", "a\nb"),
        (
            "x\nimport os\ndef f():\n    pass\n\nThe end",
            "python",
            "import os\ndef f():\n    pass\n\n",
        ),
        ("int main() {}", "cpp", ""),
        ("", "python", ""),
    ],
)
def test_the_first_program_of_an_answer(text: str, language: str, program: str) -> None:
    assert first_program(text, language) == program


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("[1, 'a', (2.5, -3)]", True),
        ("{'a': {1, 2}} ", True),
        ("set()", True),
        ("'a' * 3 + 'b'", True),
        ("f(1)", False),
        ("__import__('os')", False),
        ("x", False),
        ("(lambda: 1)()", False),
        ("type('A', (), {'__eq__': 1})()", False),
        ("[x for x in 'ab']", False),
        ("'a' if 1 else 2", False),
        ("1 == 1", False),
        ("1)(", False),
        ("(" * 5000, False),
    ],
)
def test_an_answer_is_a_plain_value(text: str, plain: bool) -> None:
    assert _is_plain(text) is plain
    assert _is_plain_call(f"f({text})") is plain
