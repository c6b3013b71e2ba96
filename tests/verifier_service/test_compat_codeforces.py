"""open-r1's package `codeforces` through Piston: requests in the shape of its client's."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

CHECKER = """
import sys
number, _, printed = (open(path).read() for path in sys.argv[1:])
try:
    a, b = map(int, printed.split())
    print(int(a + b == int(number) and a > 0 and b > 0))
except ValueError:
    print(0)
"""
"""A checker: two positive numbers whose sum is the input."""


def execute(http: httpx.Client, source: str, status: int = 200, **options: Any) -> Any:
    name = options.get("name", "main.python")
    checker = options.get("checker")
    config = {"TIME_LIMIT": 1.0, "MEMORY_LIMIT": 256.0, "INPUT_MODE": "stdio"}
    config |= options.get("config", {})
    lines = "\n".join(f"{key}={value}" for key, value in config.items())
    files = [
        {"name": name, "content": source},
        *([{"name": "checker.py", "content": checker}] if checker else []),
        {"name": "input.txt", "content": "7\n"},
        {"name": "correct_output.txt", "content": options.get("answer", "3 4\n")},
        {"name": "grader_config", "content": lines},
    ]
    body = {
        "files": files,
        "language": options.get("language", "cf_python3"),
        "version": "*",
        "run_timeout": 11000,
    }
    response = http.post("/api/v2/execute", json=body)
    assert response.status_code == status, response.text
    return response.json()


SUBMISSIONS = {
    "right": ("n = int(input())\nprint(n // 2, n - n // 2)", "1", ""),
    "another right one": ("n = int(input())\nprint(1, n - 1)", "1", ""),
    "wrong": ("print(5, 5)", "0", "Output isn't correct"),
    "negative": ("print(-1, 8)", "0", "Output isn't correct"),
    "nothing": ("", "0", "Output isn't correct"),
    "says that it is right": ("print(1)", "0", "Output isn't correct"),
    "ends": ("import os; os._exit(0)", "0", "Output isn't correct"),
    "looks for the answer": (
        "import glob\nprint(*[open(name).read() for name in glob.glob('*')] or [0])",
        "0",
        "Output isn't correct",
    ),
    "crash": ("raise ValueError", "0", "runtime_error"),
    "loops": ("while True: pass", "0", "Time limit exceeded"),
    "memory": ("x = bytearray(10**10)", "0", "runtime_error"),
    "does not compile": ("def", "0", "compile_error"),
}


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_submission_is_judged_by_its_checker(http: httpx.Client, name: str) -> None:
    source, printed, said = SUBMISSIONS[name]
    found = execute(http, source, checker=CHECKER)
    assert (found["run"]["stdout"], found["run"]["code"]) == (printed, 0)
    assert found["run"]["stderr"].startswith(said)
    assert found["compile"]["code"] == int(name == "does not compile")


def test_without_a_checker_the_words_are_compared(http: httpx.Client) -> None:
    assert execute(http, "print(' 3\\n4')")["run"]["stdout"] == "1"
    assert execute(http, "print('4 3')")["run"]["stdout"] == "0"
    cpp = (
        "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 3 << ' ' << n - 3; }"
    )
    found = execute(http, cpp, name="main.cpp", language="c++17", config={"TIME_LIMIT": 5})
    assert found["run"]["stdout"] == "1"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"config": {"INPUT_MODE": "file"}}, "INPUT_MODE is 'file'; expected stdio"),
        ({"config": {"TIME_LIMIT": "soon"}}, "TIME_LIMIT is 'soon'; expected a positive number"),
        ({"name": "solution.py"}, "0 files are called main.*"),
        ({"checker": "def"}, "the test cannot be judged: bad_reference"),
    ],
)
def test_what_cannot_be_judged_is_refused_by_name(
    http: httpx.Client, options: dict[str, Any], said: str
) -> None:
    found = execute(http, "print('3 4')", 400, **options)
    assert found["message"].startswith(said)


def test_the_package_for_ioi_is_refused_by_name(http: httpx.Client) -> None:
    body = {"language": "cms_ioi", "version": "1.0.0", "files": [{"content": ""}]}
    found = http.post("/api/v2/execute", json=body)
    assert (found.status_code, "cms_ioi" in found.json()["message"]) == (400, True)
