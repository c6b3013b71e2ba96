"""Programs of the tests: checkers and interactors, subtasks, and files beside the program."""

from __future__ import annotations

import shutil
from typing import Any

import httpx
import pytest

from tests.verifier_service.test_score import verdicts
from verifier_service.code.reference_tests import read_tests
from verifier_service.sandbox.conversation import MAX_NOTED_BYTES, Conversation
from verifier_service.verifier import Unverifiable

needs_compiler = pytest.mark.skipif(
    shutil.which("g++") is None, reason="needs g++: apt install g++"
)


def judged(
    http: httpx.Client, tests: dict[str, Any], *sources: str, **options: Any
) -> list[dict[str, Any]]:
    language = options.get("language", "python")
    blocks = [f"So:\n```{language}\n{source}\n```\n" for source in sources]
    verifier = {"type": "code", "cpu_seconds": 10.0, **options}
    return verdicts(http, verifier, *blocks, tests=tests)


# Checkers

FACTORS = """
import sys
number = int(open(sys.argv[1]).read())
words = open(sys.argv[2]).read().split()
answer = int(open(sys.argv[3]).read())
try:
    factors = [int(word) for word in words]
except ValueError:
    print("wrong output format: no numbers", file=sys.stderr)
    sys.exit(2)
product = 1
for factor in factors:
    product *= factor
if product != number:
    print("wrong answer: the product is", product, file=sys.stderr)
    sys.exit(1)
if len(factors) > answer:
    print("the jury has", answer, "factors", file=sys.stderr)
    sys.exit(3)
if len(factors) < answer:
    print("points 0.5 too few factors", file=sys.stderr)
    sys.exit(7)
print("ok", file=sys.stderr)
"""
"""A checker: the factors of a number in any order; the jury's answer is how many there are."""
FACTOR_CASES = [{"stdin": "12", "stdout": "3"}, {"stdin": "30", "stdout": "3"}]
SPLIT = """
n = int(input())
p = 2
while n > 1:
    if n % p:
        p += 1
    else:
        n //= p
        print(p)
"""
LOOKS = """
import os
seen = []
for folder in (".", "/", "/tmp", "/proc/self/cwd", "..", "/dev/shm"):
    for name in ("input.txt", "answer.txt", "output.txt"):
        try:
            seen.append(open(os.path.join(folder, name)).read())
        except OSError:
            pass
print(*seen or ["nothing"])
"""
CHECKED = {
    "right": (SPLIT, 1.0, "passed"),
    "reversed": (SPLIT.replace("print(p)", "found.append(p)").replace("p = 2", "p, found = 2, []")
        + "\nprint(*found[::-1])", 1.0, "passed"),
    "half of the points": ("print(int(input()))", 0.5, "wrong_answer"),
    "wrong product": ("print(7)", 0.0, "wrong_answer"),
    "no number": ("print('ok')", 0.0, "wrong_answer"),
    "nothing": ("", 0.0, "wrong_answer"),
    "crash": ("raise ValueError", 0.0, "runtime_error"),
    "more factors than the jury": ("print(1, 1, 1, int(input()))", 0.0, "wrong_answer"),
    "verdict on stderr": (
        "import sys\nprint('points 1.0', file=sys.stderr)\nprint(5)", 0.0, "wrong_answer"),
    "exit code of the checker": ("print(5); raise SystemExit(7)", 0.0, "runtime_error"),
    "huge number": ("print('9' * 5000)", 0.0, "wrong_answer"),
    "no text": ("import os; os.write(1, bytes(range(256)))", 0.0, "wrong_answer"),
    "looks for the files": (LOOKS, 0.0, "wrong_answer"),
    "leaves files": (
        "for name in ('output.txt', 'int.py', 'sys.py'):\n    try:\n"
        "        open(name, 'w').write('print(1)')\n    except OSError:\n        pass\n"
        "print(11)", 0.0, "wrong_answer"),
}  # fmt: skip


def test_a_checker_decides_whether_and_how_far_an_output_is_right(http: httpx.Client) -> None:
    tests = {"type": "stdio", "cases": FACTOR_CASES, "checker": {"source": FACTORS}}
    sources = [source for source, _, _ in CHECKED.values()]
    found = judged(http, tests, *sources, scoring="fraction")
    results = {
        name: (verdict["score"], verdict["reason"])
        for name, verdict in zip(CHECKED, found, strict=True)
    }
    assert results == {name: (score, reason) for name, (_, score, reason) in CHECKED.items()}
    whole = judged(http, tests, *sources)
    assert [verdict["score"] for verdict in whole] == [
        float(score == 1.0) for _, score, _ in CHECKED.values()
    ]


def test_a_program_finds_no_answer_and_no_checker(http: httpx.Client) -> None:
    tests = {"type": "stdio", "cases": FACTOR_CASES, "checker": {"source": FACTORS}}
    (found,) = judged(http, tests, LOOKS)
    assert found["details"]["output"] == "nothing\n"


def test_a_case_whose_own_answer_is_a_fault_has_no_score(http: httpx.Client) -> None:
    """A fault that only the program's output has is the program's."""
    broken = "import sys\nsys.exit(3 if 'x' in open(sys.argv[3]).read() else 1)"
    tests = {
        "type": "stdio",
        "cases": [{"stdin": "", "stdout": "x"}],
        "checker": {"source": broken},
    }
    (found,) = judged(http, tests, "print(1)")
    assert (found["outcome"], found["reason"]) == ("unverifiable", "bad_reference")
    picky = "import sys\nsys.exit(3 if 'x' in open(sys.argv[2]).read() else 0)"
    tests = {"type": "stdio", "cases": [{"stdin": "", "stdout": "1"}], "checker": {"source": picky}}
    found, right = judged(http, tests, "print('x')", "print(1)")
    assert (found["score"], found["reason"], right["score"]) == (0.0, "wrong_answer", 1.0)


@pytest.mark.parametrize(
    ("checker", "score"),
    [
        ("print(0.25)", 0.25),
        ("print('1.0')", 1.0),
        ("print('nan')", 0.0),
        ("print('7')", 1.0),
        ("print('-1')", 0.0),
        ("print('right')", 0.0),
        ("pass", 0.0),
        ("print(1); raise SystemExit(1)", 0.0),
        ("import sys; print(float(open(sys.argv[2]).read() == '5'))", 1.0),
        ("while True: pass", 0.0),
    ],
)
def test_a_checker_may_print_its_share(http: httpx.Client, checker: str, score: float) -> None:
    asked = {"source": checker, "convention": "cms"}
    tests = {"type": "stdio", "cases": [{"stdin": "", "stdout": "5"}], "checker": asked}
    (found,) = judged(http, tests, "print(1)", scoring="fraction", cpu_seconds=0.5)
    assert found["score"] == score


@pytest.mark.parametrize("checker", ["def", "int main() {"])
def test_a_checker_that_does_not_compile_is_a_bad_reference(
    http: httpx.Client, checker: str
) -> None:
    language = "python" if checker == "def" else "cpp"
    asked = {"source": checker, "language": language}
    tests = {"type": "stdio", "cases": FACTOR_CASES, "checker": asked}
    (found,) = judged(http, tests, "print(1)")
    assert (found["outcome"], found["reason"]) in {
        ("unverifiable", "bad_reference"),
        ("unverifiable", "missing_toolchain"),
    }


@pytest.mark.slow
@needs_compiler
def test_a_checker_in_cpp_has_files_beside_it(http: httpx.Client) -> None:
    source = """
        #include "small.h"
        int main(int, char **arguments) { return word(arguments[2]) == word(arguments[3]) ? 0 : 1; }
    """
    header = """
        #include <fstream>
        #include <string>
        inline std::string word(const char *name) {
            std::string s; std::ifstream(name) >> s; return s;
        }
    """
    checker = {"source": source, "language": "cpp", "files": {"small.h": header}}
    cases = [{"stdin": "a", "stdout": "a"}, {"stdin": "b", "stdout": "b"}]
    tests = {"type": "stdio", "cases": cases, "checker": checker}
    right, wrong = judged(http, tests, "print('  ' + input())", "print('a')")
    assert (right["score"], wrong["score"]) == (1.0, 0.0)


# Interactors

GUESS = """
import sys
secret = int(open(sys.argv[1]).read())
for turn in range(12):
    line = sys.stdin.readline()
    word, _, number = line.partition(" ")
    if word == "!":
        right = number.strip() == open(sys.argv[3]).read()
        print("ok" if right else "wrong answer: it was not", file=sys.stderr)
        sys.exit(0 if right else 1)
    if word != "?" or not number.strip().isdigit():
        print("wrong output format:", line[:50], file=sys.stderr)
        sys.exit(2)
    guess = int(number)
    print("<" if secret < guess else ">" if secret > guess else "=", flush=True)
print("points 0.25 too many questions", file=sys.stderr)
sys.exit(7)
"""
"""An interactor: it thinks of a number up to 1000 and answers ten questions."""
GUESS_CASES = [{"stdin": str(n), "stdout": str(n)} for n in (37, 1000)]
SEARCH = """
low, high = 1, 1000
while low < high:
    middle = (low + high) // 2
    print("?", middle, flush=True)
    if input() in "<=":
        high = middle
    else:
        low = middle + 1
print("!", low, flush=True)
"""
TALKS = {
    "right": (SEARCH, 1.0, "passed"),
    "right, and then it crashes": (SEARCH + "raise ValueError", 1.0, "passed"),
    "wrong": (SEARCH.replace("low, flush", "low + 1, flush"), 0.0, "wrong_answer"),
    "asks one by one": (
        "n = 1\nwhile True:\n    print('?', n, flush=True)\n    input()\n    n += 1",
        0.25,
        "wrong_answer",
    ),
    "says nothing": ("", 0.0, "wrong_answer"),
    "crash": ("print('? 1', flush=True)\ninput()\nraise ValueError", 0.0, "runtime_error"),
    "waits for an answer without a question": ("input()", 0.0, "time_limit_exceeded"),
    "does not flush": (
        "import sys\nprint('? 5')\nsys.stdin.readline()", 0.0, "time_limit_exceeded"),
    "loops": ("while True: pass", 0.0, "time_limit_exceeded"),
    "another language": ("print('guess 5', flush=True)", 0.0, "wrong_answer"),
    "floods": ("while True: print('x' * 10**6, end='')", 0.0, "wrong_answer output_limit_exceeded"),
    "looks for the secret": (
        LOOKS.replace('print(*seen or ["nothing"])', "print('!', *seen or [0], flush=True)"),
        0.0,
        "wrong_answer",
    ),
    "looks into other processes": (
        "import os\nfor pid in os.listdir('/proc') if os.path.isdir('/proc') else ():\n"
        "    for name in ('mem', 'environ', 'cwd/answer.txt', 'root/input.txt', 'fd/0'):\n"
        "        try:\n            print('!', open(f'/proc/{pid}/{name}').read(), flush=True)\n"
        "        except (OSError, ValueError):\n            pass\nprint('! 0', flush=True)",
        0.0,
        "wrong_answer",
    ),
    "writes to every descriptor": (
        "import os\nfor number in range(2, 64):\n    try:\n"
        "        os.write(number, b'ok')\n    except OSError:\n        pass\n"
        "print('! 0', flush=True)",
        0.0,
        "wrong_answer",
    ),
    "kills": (
        "import os, signal\nfor pid in [-1, 0, *range(1, 40)]:\n    try:\n"
        "        os.kill(pid, signal.SIGTERM) if pid not in (0, os.getpid()) else None\n"
        "    except OSError:\n        pass\nprint('! 0', flush=True)",
        0.0,
        "wrong_answer",
    ),
    "ends with the code of success": ("raise SystemExit(0)", 0.0, "wrong_answer"),
    "no text": ("import os\nos.write(1, bytes([255, 0, 10]))", 0.0, "wrong_answer runtime_error"),
}  # fmt: skip


@pytest.mark.slow
def test_a_program_talks_with_an_interactor(http: httpx.Client) -> None:
    tests = {"type": "interactive", "interactor": {"source": GUESS}, "cases": GUESS_CASES}
    sources = [source for source, _, _ in TALKS.values()]
    found = judged(http, tests, *sources, scoring="fraction", cpu_seconds=0.7)
    for (name, (_, score, reasons)), verdict in zip(TALKS.items(), found, strict=True):
        assert verdict["score"] == score, (name, verdict)
        assert verdict["reason"] in reasons.split(), (name, verdict)
    assert found[0]["details"]["transcript"].startswith("program: ? 500\ninteractor: >\n")
    assert all(len(one["details"].get("transcript", "")) < 10_000 for one in found)


def test_an_interactor_at_fault_without_a_program_has_no_score(http: httpx.Client) -> None:
    """One that finds a fault in what the program says has a program that is wrong."""
    broken = "import sys\nprint('the jury has no answer', file=sys.stderr)\nsys.exit(3)"
    tests = {"type": "interactive", "interactor": {"source": broken}, "cases": [{}]}
    for program in ("print(1)", "raise ValueError", "while True: print(input())"):
        (found,) = judged(http, tests, program)
        assert (found["outcome"], found["reason"]) == ("unverifiable", "bad_reference")
        assert found["details"]["message"] == "the jury has no answer\n"
    picky = "import sys\nsys.exit(3 if sys.stdin.readline() else 1)"
    tests = {"type": "interactive", "interactor": {"source": picky}, "cases": [{}]}
    (found,) = judged(http, tests, "print(1)")
    assert (found["score"], found["reason"]) == (0.0, "wrong_answer")


@pytest.mark.slow
@needs_compiler
def test_programs_and_interactors_may_be_in_cpp(http: httpx.Client) -> None:
    program = """
        #include <iostream>
        int main() { int n; std::cin >> n; std::cout << n * n << std::endl; }
    """
    interactor = """
        #include <fstream>
        #include <iostream>
        int main(int, char **files) {
            int n, found; std::ifstream(files[1]) >> n;
            std::cout << n << std::endl;
            std::cin >> found;
            return found == n * n ? 0 : 1;
        }
    """
    asked = {"source": interactor, "language": "cpp"}
    tests = {"type": "interactive", "interactor": asked, "cases": [{"stdin": "7"}, {"stdin": "8"}]}
    sources = program, program.replace("n * n", "49")
    right, wrong = judged(http, tests, *sources, language="cpp")
    assert (right["score"], wrong["score"], wrong["details"]["passed"]) == (1.0, 0.0, 1)
    assert wrong["details"]["transcript"] == "interactor: 8\nprogram: 49\n"
    (python,) = judged(http, tests, "print(int(input()) ** 2)")
    assert python["score"] == 1.0


@pytest.mark.slow
def test_the_notes_of_a_conversation_are_bounded() -> None:
    talk = Conversation()
    for number in range(100_000):
        talk.note("program" if number % 2 else "interactor", b"%d\n" % number)
    assert len(talk.text()) < 12 * 2 * MAX_NOTED_BYTES
    assert talk.text().startswith("interactor: 0\nprogram: 1\n")
    assert talk.text().endswith("interactor: 99998\nprogram: 99999\n")
    assert "bytes left out" in talk.text()
    talk.note("program", b"x" * 10**6)
    assert len(talk.text()) < 12 * 2 * MAX_NOTED_BYTES


# Subtasks

NUMBERS = [1, 2, 30, 40, 5000, 6000]
SUBTASKS = {
    "type": "stdio",
    "cases": [{"stdin": str(n), "stdout": str(n * n)} for n in NUMBERS],
    "subtasks": [
        {"cases": [0, 1], "points": 20},
        {"cases": [0, 1, 2, 3], "points": 30},
        {"cases": [4, 5], "points": 50},
    ],
}
SQUARE = "n = int(input())\n{}print(n * n)"
SUBTASK_PROGRAMS = {
    "right": (SQUARE.format(""), [20, 30, 50]),
    "small alone": (SQUARE.format("if n > 10: n = 0\n"), [20, 0, 0]),
    "medium": (SQUARE.format("if n > 100: n = 0\n"), [20, 30, 0]),
    "large alone": (SQUARE.format("if n < 100: n = 0\n"), [0, 0, 50]),
    "crash at one": (SQUARE.format("assert n != 40\n"), [20, 0, 50]),
    "loops at one": (SQUARE.format("while n == 2: pass\n"), [0, 0, 50]),
    "sleeps at the end": (
        SQUARE.format("import time\nif n > 5000: time.sleep(60)\n"), [20, 30, 0]),
    "wrong": ("print(0)", [0, 0, 0]),
    "ends": ("import os; os._exit(0)", [0, 0, 0]),
    "does not compile": ("def", [0, 0, 0]),
    "prints its points": ("print('points 50')", [0, 0, 0]),
    "remembers": (
        "try:\n    print(open('n').read())\nexcept OSError:\n    print(1)", [0, 0, 0]),
}  # fmt: skip


@pytest.mark.slow
def test_subtasks_give_the_points_of_their_worst_case(http: httpx.Client) -> None:
    sources = [source for source, _ in SUBTASK_PROGRAMS.values()]
    found = judged(http, SUBTASKS, *sources, scoring="fraction", cpu_seconds=0.7)
    points = {
        name: verdict["details"]["subtasks"]
        for name, verdict in zip(SUBTASK_PROGRAMS, found, strict=True)
    }
    assert points == {name: points for name, (_, points) in SUBTASK_PROGRAMS.items()}
    assert [verdict["score"] for verdict in found] == [
        sum(points) / 100 for _, points in SUBTASK_PROGRAMS.values()
    ]


def test_subtasks_count_shares(http: httpx.Client) -> None:
    checker = {"source": "print(open(__import__('sys').argv[3]).read())", "convention": "cms"}
    cases = [{"stdin": share, "stdout": ""} for share in ("1", "0.5", "0.25")]
    subtasks = [{"cases": [0]}, {"cases": [0, 1], "points": 2}, {"cases": [1, 2], "points": 4}]
    tests = {"type": "stdio", "cases": cases, "checker": checker, "subtasks": subtasks}
    (found,) = judged(http, tests, "print(input())", scoring="fraction")
    assert found["details"]["subtasks"] == [1.0, 1.0, 1.0]
    assert found["score"] == pytest.approx(3 / 7)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"subtasks": [{"cases": [0, 9]}]}, "subtasks name case 9; there are cases 0 to 1"),
        ({"subtasks": [{"cases": [0]}]}, "case 1 is in no subtask"),
        ({"subtasks": [{"cases": [0, 1], "points": 0}]}, "greater than 0"),
        ({"files": {"../x": ""}}, "no name of a file below"),
        ({"files": {"x": "a" * (5 * 2**20)}}, "1 files of 5242880 bytes; at most 64"),
        ({"program": "pass", "checker": {"source": "pass"}}, "two judges of an output"),
        ({"checker": {"source": ""}}, "at least 1 character"),
        ({"checker": {"source": "x", "language": "cobol"}}, "no language 'cobol' of python"),
    ],
)
def test_tests_that_contradict_themselves_are_bad(change: dict[str, Any], said: str) -> None:
    cases = [{"stdin": "", "stdout": ""}] * 2
    with pytest.raises(Unverifiable, match=said):
        read_tests({"tests": {"type": "stdio", "cases": cases, **change}})


# Files


def test_files_lie_beside_the_program(http: httpx.Client) -> None:
    files = {"data/prices.csv": "day,price\n1,20\n2,22\n", "helper.py": "BASE = 2\n"}
    reads = "total = sum(int(line.split(',')[1]) for line in list(open('data/prices.csv'))[1:])"
    stdio = {"type": "stdio", "files": files, "cases": [{"stdin": "", "stdout": "42"}]}
    right, wrong, changed = judged(
        http,
        stdio,
        f"import helper\n{reads}\nassert helper.BASE == 2\nprint(total)",
        "print(open('other.csv').read())",
        "open('data/prices.csv', 'w').write('x')\nprint(open('data/prices.csv').read())",
    )
    assert (right["score"], wrong["score"], changed["score"]) == (1.0, 0.0, 0.0)
    function = f"def total():\n    {reads}\n    return total"
    asserts = {"type": "asserts", "files": files, "code": "assert total() == 42"}
    calls = {"type": "function", "files": files, "entry_point": "total", "cases": [{"returns": 42}]}
    for tests in (asserts, calls):
        (found,) = judged(http, tests, function)
        assert found["score"] == 1.0, found


def test_each_case_has_its_files_anew(http: httpx.Client) -> None:
    program = "n = int(open('n').read())\nopen('n', 'w').write(str(n + 1))\nprint(n)"
    cases = [{"stdin": "", "stdout": "1"}] * 3
    tests = {"type": "stdio", "files": {"n": "1"}, "cases": cases}
    (found,) = judged(http, tests, program)
    assert found["score"] == 1.0


def test_a_completion_without_a_program_names_the_languages_that_it_has(
    http: httpx.Client,
) -> None:
    tests = {"type": "stdio", "cases": [{"stdin": "", "stdout": "1"}]}
    verifier = {"type": "code"}
    texts = ["```cpp\nint main() {}\n```", "```made-up\nx\n```", "no block"]
    in_cpp, unknown, none = verdicts(http, verifier, *texts, tests=tests)
    assert in_cpp["details"] == {"message": "its blocks are in cpp; this verifier judges python"}
    assert "details" not in unknown
    assert "details" not in none
    assert {one["reason"] for one in (in_cpp, unknown, none)} == {"no_code"}
