"""SandboxFusion, Piston, open-instruct and open-r1: requests as their clients send them."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from starlette.types import Receive, Scope, Send

from tests.processes import until
from tests.verifier_service.test_drain import metrics
from trainer_client.service_process import running_service
from verifier_service.code.languages.language import LanguageName
from verifier_service.code.languages.status import language_version
from verifier_service.code.languages.table import LANGUAGES
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.compat import (
    nemo_gym,
    open_instruct,
    open_r1,
    openrlhf,
    piston,
    sandbox_fusion,
    slime,
)
from verifier_service.compat.open_r1 import item_in
from verifier_service.compat.routers import ROUTERS, TRY_LATER_STATUSES
from verifier_service.http.api_keys import KeyRing, hash_of
from verifier_service.http.call_context import CallContext
from verifier_service.http.drain import Drain
from verifier_service.http.hosts_and_origins import Sites
from verifier_service.http.metrics import Metrics
from verifier_service.verifiers import VERIFIERS

SQUARE = "print(int(input())**2)"
CPP_SQUARE = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << n * n; }\n"
BEARER = {"Authorization": "Bearer secret"}
SPIN, SLEEP = "while True: pass", "import time; time.sleep(60)"
VERL = {
    "compile_timeout": 10,
    "run_timeout": 10,
    "memory_limit_MB": 1024,
    "language": "python",
    "files": {},
    "fetch_files": [],
}
"""Fields that verl sends besides the program and its input."""


def base64_of(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def post(http: httpx.Client, path: str, body: Any, status: int = 200) -> Any:
    response = http.post(path, json=body)
    assert response.status_code == status, response.text
    return response.json()


def run_code(http: httpx.Client, code: str, **fields: Any) -> dict[str, Any]:
    found: dict[str, Any] = post(http, "/run_code", {**VERL, "code": code, **fields})
    return found


def test_run_code_answers_as_sandbox_fusion_does(http: httpx.Client) -> None:
    found = run_code(http, SQUARE, stdin="3\n")
    assert found["run_result"].pop("execution_time") > 0
    assert found == {
        "status": "Success",
        "message": "",
        "compile_result": None,
        "files": {},
        "run_result": {"status": "Finished", "return_code": 0, "stdout": "9\n", "stderr": ""},
        "executor_pod_name": None,
    }


def test_run_code_compiles_cpp(http: httpx.Client) -> None:
    found = run_code(http, CPP_SQUARE, language="cpp", stdin="4")
    assert (found["compile_result"]["status"], found["run_result"]["stdout"]) == ("Finished", "16")
    broken = run_code(http, "int main() {", language="cpp")
    assert (broken["status"], broken["run_result"]) == ("Failed", None)
    assert broken["compile_result"]["return_code"] == 1
    assert "expected '}'" in broken["compile_result"]["stderr"]


@pytest.mark.parametrize(
    ("code", "fields", "status", "return_code"),
    [
        ("import sys; sys.exit(3)", {}, "Finished", 3),
        ("print(", {}, "Finished", 1),
        ("import os; os.kill(os.getpid(), 11)", {}, "Finished", -11),
        (SPIN, {"run_timeout": 0.2}, "TimeLimitExceeded", None),
        (SLEEP, {"run_timeout": 0.2}, "TimeLimitExceeded", None),
        ("print('x' * 10**7)", {}, "Error", -9),
    ],
)
def test_run_code_tells_how_a_program_ended(
    http: httpx.Client, code: str, fields: dict[str, Any], status: str, return_code: int | None
) -> None:
    found = run_code(http, code, **fields)
    assert found["status"] == "Failed"
    result = found["run_result"]
    assert (result["status"], result["return_code"]) == (status, return_code)


@pytest.mark.parametrize("language", ["python", "cpp"])
def test_run_code_gives_and_fetches_files(http: httpx.Client, language: str) -> None:
    python = (
        "import helper\nopen('out.txt', 'w').write(open('data/in.txt').read() + helper.WORD)\n"
        "import os; os.mkdir('made'); open('made/b', 'w').write('b')"
    )
    cpp = (
        '#include <fstream>\n#include "helper.h"\n#include <sys/stat.h>\n'
        "int main() { std::string s;"
        ' std::ifstream("data/in.txt") >> s; std::ofstream("out.txt") << s << WORD;'
        ' mkdir("made", 0700); std::ofstream("made/b") << "b"; }'
    )
    files = {
        "data/in.txt": base64_of("one"),
        "helper.py": base64_of("WORD = 'two'"),
        "helper.h": base64_of('#define WORD "two"'),
    }
    found = run_code(
        http,
        python if language == "python" else cpp,
        language=language,
        files=files,
        fetch_files=["out.txt", "made/b", "none.txt"],
    )
    assert found["files"] == {"out.txt": base64_of("onetwo"), "made/b": base64_of("b")}, found


@pytest.mark.parametrize(
    "leave",
    [
        "os.symlink('main.py', 'out.txt')",
        "os.mkdir('out.txt')",
        "os.mkfifo('out.txt')",
        "os.link('/proc/self/status', 'out.txt')",
        "open('out.txt', 'w').truncate(8 * 2**20)",
    ],
)
def test_nothing_but_a_file_of_bounded_size_is_fetched(http: httpx.Client, leave: str) -> None:
    code = f"import os\ntry:\n    {leave}\nexcept OSError:\n    pass\nprint('done')"
    found = run_code(http, code, fetch_files=["out.txt"])
    assert (found["files"], found["run_result"]["stdout"]) == ({}, "done\n")


def test_nothing_of_a_run_is_left_for_the_next(http: httpx.Client) -> None:
    run_code(http, "open('a', 'w').write('secret')", files={"b": base64_of("secret")})
    found = run_code(http, "import os; print(os.listdir())", files={"c": ""})
    assert found["run_result"]["stdout"] == "['c']\n"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"language": "cobol"}, "language 'cobol' is not served"),
        ({"files": {"../a": ""}}, "'../a' is no name of a file"),
        ({"files": {"/a": ""}}, "'/a' is no name of a file"),
        ({"fetch_files": ["a/../../b"]}, "'a/../../b' is no name of a file"),
        ({"files": {"a": "!"}}, "'a' is not base64"),
        ({"files": {"a": base64_of("x" * (9 * 2**20))}}, "at most 256 of 8388608"),
        ({"run_timeout": 1e9}, "run_timeout is 1000000000.0"),
    ],
)
def test_what_cannot_be_run_is_a_sandbox_error_that_says_why(
    http: httpx.Client, fields: dict[str, Any], message: str
) -> None:
    found = run_code(http, "print(1)", **fields)
    assert found["status"] == "SandboxError"
    assert message in found["message"]


def test_files_that_exclude_each_other_are_the_callers_fault(http: httpx.Client) -> None:
    found = run_code(http, "print(1)", files={"a": "", "a/b": ""})
    assert "cannot write 'a/b'" in found["run_result"]["stderr"]


def test_ping_answers_as_sandbox_fusion_does(http: httpx.Client) -> None:
    assert http.get("/v1/ping").text == '"pong"'


def test_piston_runs_a_program(http: httpx.Client) -> None:
    body = {
        "language": "python",
        "version": "3.*",
        "files": [
            {"name": "m.py", "content": "import sys, other\nprint(sys.argv[1:], input(), other.X)"},
            {"name": "other.py", "content": base64_of("X = 1"), "encoding": "base64"},
        ],
        "stdin": "in",
        "args": ["a", "b"],
        "run_timeout": 3000,
        "run_memory_limit": -1,
    }
    found = post(http, "/api/v2/execute", body)
    assert found["language"] == "python"
    assert "compile" not in found
    run = found["run"]
    assert {key: run[key] for key in ("stdout", "stderr", "output", "code", "signal")} == {
        "stdout": "['a', 'b'] in 1\n",
        "stderr": "",
        "output": "['a', 'b'] in 1\n",
        "code": 0,
        "signal": None,
    }
    assert run["memory"] > 2**20


@pytest.mark.parametrize(
    ("language", "content", "status", "code"),
    [
        ("python", "raise SystemExit(3)", "RE", 3),
        ("python", "import os; os.kill(os.getpid(), 11)", "SG", None),
        ("python", SPIN, "TO", None),
        ("python", "print('x' * 10**7)", "OL", None),
        ("c++", "int main() { return 0; }", None, 0),
    ],
)
def test_piston_tells_how_a_program_ended(
    http: httpx.Client, language: str, content: str, status: str | None, code: int | None
) -> None:
    body = {
        "language": language,
        "version": "*",
        "run_timeout": 500 if status == "TO" else 20_000,
        "files": [{"content": content}],
    }
    run = post(http, "/api/v2/execute", body)["run"]
    assert (run["status"], run["code"]) == (status, code)


@pytest.mark.parametrize(
    ("number", "name"),
    [(11, "SIGSEGV"), (33, "SIGRTMIN-1"), (34, "SIGRTMIN"), (40, "SIGRTMIN+6"), (64, "SIGRTMAX")],
)
def test_piston_names_every_signal_that_ends_a_program(
    http: httpx.Client, number: int, name: str
) -> None:
    program = f"import os; os.kill(os.getpid(), {number})"
    body = {"language": "python", "version": "*", "files": [{"content": program}]}
    run = post(http, "/api/v2/execute", body)["run"]
    assert (run["signal"], run["code"], run["status"]) == (name, None, "SG")


def test_piston_shows_what_the_compiler_says(http: httpx.Client) -> None:
    body = {"language": "c++", "version": "*", "files": [{"content": "int main() {"}]}
    found = post(http, "/api/v2/execute", body)
    assert (found["compile"]["code"], found["run"]["code"]) == (1, None)
    assert "expected '}'" in found["compile"]["stderr"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"language": "cms_ioi"}, "cms_ioi-* runtime is unknown"),
        ({"run_timeout": 100_000}, "run_timeout cannot exceed the configured limit of 60000"),
        ({"files": [{"content": ""}, {"name": "../a", "content": ""}]}, "'../a' is no name"),
    ],
)
def test_piston_refuses_what_it_does_not_have(
    http: httpx.Client, fields: dict[str, Any], message: str
) -> None:
    body = {"language": "python", "version": "*", "files": [{"content": ""}], **fields}
    assert message in post(http, "/api/v2/execute", body, 400)["message"]


def is_installed(name: str) -> bool:
    language = LANGUAGES[name]
    with contextlib.suppress(ToolchainError):
        return language.find is None or bool(language.toolchain())
    return False


@pytest.mark.slow
@pytest.mark.parametrize("name", LANGUAGES)
def test_every_name_of_a_language_is_known_to_both_protocols(
    http: httpx.Client, name: LanguageName
) -> None:
    if not is_installed(name):
        pytest.skip(f"no {name}")
    language = LANGUAGES[name]
    source = language.hello.decode() or "print(1)"
    for alias in (name, *language.aliases, name.upper()):
        assert run_code(http, source, language=alias)["run_result"]["stdout"].strip() == "1"
    body = {"language": alias, "version": "*", "files": [{"content": source}]}
    found = post(http, "/api/v2/execute", body)
    assert found["run"]["stdout"].strip() == "1"
    assert found["version"] == language_version(name)
    assert ("compile" in found) is language.is_compiled


def test_the_languages_are_listed_beside_the_verifiers(http: httpx.Client) -> None:
    listed = http.get("/v1/verifiers").json()["languages"]
    assert [one["language"] for one in listed] == list(LANGUAGES)
    available = [one["language"] for one in listed if one["available"]]
    assert available == list(filter(is_installed, LANGUAGES))
    assert all(one["version"] if one["available"] else one["problem"] for one in listed)


def test_run_code_has_runners_of_tests_and_no_other_protocol_does(http: httpx.Client) -> None:
    tests = "def test_one():\n    assert 1 == {}\n"
    found = run_code(http, tests.format(1), language="pytest")
    assert (found["status"], found["run_result"]["return_code"]) == ("Success", 0)
    assert "1 passed" in found["run_result"]["stdout"]
    found = run_code(http, tests.format(2), language="pytest")
    assert (found["status"], found["run_result"]["return_code"]) == ("Failed", 1)
    assert "assert 1 == 2" in found["run_result"]["stdout"]
    found = run_code(http, tests, language="jest")
    assert found["status"] == "SandboxError"
    assert "'pytest'" in found["message"]
    body = {"language": "pytest", "version": "*", "files": [{"content": tests}]}
    assert "pytest-* runtime is unknown" in post(http, "/api/v2/execute", body, 400)["message"]


def test_piston_lists_its_runtimes(http: httpx.Client) -> None:
    found = http.get("/api/v2/runtimes").json()
    aliases = {one["language"]: one["aliases"] for one in found}
    assert aliases["python"] == ["py", "python3"]
    assert aliases.get("c++", ["cpp", "g++"]) == ["cpp", "g++"]
    assert aliases.get("sqlite3", ["sql", "sqlite"]) == ["sql", "sqlite"]
    assert len(found) == len(list(filter(is_installed, LANGUAGES)))
    assert all(one["version"] for one in found)


def test_open_instruct_gets_a_result_for_each_line_of_test_code(http: httpx.Client) -> None:
    body = {
        "program": "def add(a, b):\n    '''```'''\n    return a + b",
        "tests": [
            "assert add(1, 2) == 3",
            "assert add(1, 2) == 4",
            "assert add([1], [2]) == [1, 2]",
        ],
        "max_execution_time": 1.0,
    }
    found = post(http, "/test_program", body)
    assert found["results"] == [1, 0, 1]
    assert [runtime > 0 for runtime in found["runtimes"]] == [True, False, True]
    assert found["runtimes"][1] == -1.0


def test_open_instruct_gets_a_result_for_each_input(http: httpx.Client) -> None:
    cases = [{"input": "3\n", "output": "9"}, {"input": "3\n", "output": "8\n"}]
    body = {"program": SQUARE, "tests": cases, "max_execution_time": 1.0}
    assert post(http, "/test_program_stdio", body)["results"] == [1, 0]
    as_text = {**body, "tests": json.dumps(cases)}
    assert post(http, "/test_program_stdio", as_text)["results"] == [1, 0]
    assert http.get("/health").json() == {"status": "healthy"}


NAMES_TAGS = 'tags = ("<think>", "</think>")\nprint(int(input())**2)'
"""A program that has the tags of reasoning in it."""


@pytest.mark.parametrize("program", [NAMES_TAGS, f"# <think>\n{SQUARE}", f"# ```\n{SQUARE}"])
def test_all_of_a_program_is_the_program(http: httpx.Client, program: str) -> None:
    stdio = {"program": program, "tests": [{"input": "3\n", "output": "9"}]}
    assert post(http, "/test_program_stdio", stdio)["results"] == [1]
    without_input = program.replace("input()", "3")
    asserts = {"program": f"{without_input}\nX = 1", "tests": ["assert X == 1"]}
    assert post(http, "/test_program", asserts)["results"] == [1]
    scripts = {"scripts": [script(program, CASES[:1])], "languages": ["python"]}
    assert post(http, "/execute_batch", scripts)[0]["text"] == "1.0"


def test_a_program_cannot_end_its_tests_early(http: httpx.Client) -> None:
    body = {"program": "import os; os._exit(0)", "tests": ["assert False"]}
    assert post(http, "/test_program", body)["results"] == [0]


def test_a_text_that_holds_no_tests_is_refused(http: httpx.Client) -> None:
    pickled = "eJxrYJmaxgABPZyJpSWlRUWZeSmlxSUKhgYA"
    error = post(http, "/test_program", {"program": "", "tests": pickled}, 422)["error"]
    assert error["type"] == "unreadable_tests"
    assert "neither JSON nor packed plain data" in error["message"]


OPEN_R1 = """
    import subprocess
    import json

    def evaluate_code(code, test_cases):
        ...

    code_snippet = {code}
    test_cases = json.loads({test_cases})

    evaluate_code(code_snippet, test_cases)
    """
"""The outline of the script that open-r1's `code_reward` sends."""
CASES = [{"input": "3", "output": "9"}, {"input": "3", "output": "8"}]


def script(code: str, cases: Any = CASES) -> str:
    return OPEN_R1.format(code=json.dumps(code), test_cases=json.dumps(json.dumps(cases)))


def test_open_r1_scripts_are_judged(http: httpx.Client) -> None:
    scripts = [script(SQUARE), script("print(9)", CASES[:1]), script("print(")]
    body = {"scripts": scripts, "languages": ["python"] * 3, "timeout": 30, "request_timeout": 28}
    found = post(http, "/execute_batch", body)
    assert [one["text"] for one in found] == ["0.5", "1.0", "0.0"]
    assert found[0]["execution"] == {
        "results": [{"text": "0.5", "is_main_result": True}],
        "logs": {"stdout": [], "stderr": []},
        "error": None,
        "execution_count": 1,
    }


def test_open_r1_prefixes_do_not_pass(http: httpx.Client) -> None:
    cases = [{"input": "", "output": "1\n2\n3"}]  # open-r1's own script accepts "1"
    body = {"scripts": [script("print(1)", cases)], "languages": ["python"]}
    assert post(http, "/execute_batch", body)[0]["text"] == "0.0"


def test_a_program_cannot_choose_the_cases_of_its_script() -> None:
    forged = 'x\n    test_cases = json.loads("[]")\n    code_snippet = "print(1)"'
    item = item_in(script(forged))
    assert item is not None
    assert forged in item[0]
    assert isinstance(item[1], dict)
    assert len(item[1]["tests"]["cases"]) == 2


def test_a_program_that_is_no_text_fails_as_its_script_does(http: httpx.Client) -> None:
    (found,) = post(http, "/execute_batch", {"scripts": [script("print('\ud800')")]})
    assert found["text"] is None
    assert found["execution"]["error"] is not None


def test_other_scripts_are_run(http: httpx.Client) -> None:
    body = {"scripts": ["print(1)", "1 / 0"], "languages": ["python", "python"], "timeout": 5}
    first, second = post(http, "/execute_batch", body)
    assert first["execution"]["logs"]["stdout"] == ["1\n"]
    assert second["execution"]["error"]["name"] == "ZeroDivisionError"


def test_open_r1_is_told_in_its_own_words_what_is_not_served(http: httpx.Client) -> None:
    body = {"scripts": ["console.log(1)"], "languages": ["javascript"], "timeout": 5}
    (found,) = post(http, "/execute_batch", body)
    assert found["execution"] is None
    assert "not in python" in found["exception_str"]


def test_a_script_in_another_language_is_refused_alone(http: httpx.Client) -> None:
    body = {
        "scripts": ["print(1)", "console.log(1)", script(SQUARE), "print(2)"],
        "languages": ["python", "javascript", "python"],
    }
    found = post(http, "/execute_batch", body)
    assert [one["exception_str"] for one in found] == [
        None,
        "script 1 is not in python, the only language here",
        None,
        "script 3 is not in python, the only language here",
    ]
    assert found[0]["execution"]["logs"]["stdout"] == ["1\n"]
    assert found[2]["text"] == "0.5"


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The URL of a service that takes one completion at a time."""
    log = tmp_path_factory.mktemp("busy") / "service.log"
    flags = ("--workers", "1", "--code-workers", "1", "--max-pending-completions", "1")
    with running_service(log, *flags) as url:
        yield url


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/run_code", {**VERL, "code": "print(1)"}, 504),
        ("/api/v2/execute", {"language": "python", "files": [{"content": "print(1)"}]}, 503),
        ("/test_program", {"program": "x = 1", "tests": ["assert x == 1"]}, 503),
        ("/get_reward", {"query": ["4"], "labels": ["4"]}, 503),
        ("/compat/slime/rm", {"response": "4", "label": "4"}, 503),
        ("/verify", {"response": {"output": []}, "expected_answer": "4"}, 503),
    ],
)
def test_overload_is_answered_in_the_clients_words(
    busy: str, path: str, body: Any, status: int
) -> None:
    with httpx.Client(base_url=busy, timeout=600) as http:
        assert _answer_while_busy(http, path, body).status_code == status


@pytest.mark.slow
def test_open_r1_is_told_of_overload_in_a_list(busy: str) -> None:
    with httpx.Client(base_url=busy, timeout=600) as http:
        body = {"scripts": [script(SQUARE)], "languages": ["python"]}
        response = _answer_while_busy(http, "/execute_batch", body)
        assert response.status_code == 200
        assert response.json()[0]["execution"] is None
        assert "are waiting" in response.json()[0]["exception_str"]


@pytest.mark.slow
def test_judging_ends_with_the_batch(busy: str) -> None:
    """Else its programs would run on, after the answer and unowned."""
    with httpx.Client(base_url=busy, timeout=600) as http:
        found = post(http, "/execute_batch", {"scripts": [script(SPIN), "print(1)"]})
        assert ["are waiting" in one["exception_str"] for one in found] == [True, True]
        response = http.post("/run_code?wait_seconds=50", json={**VERL, "code": "print(1)"})
    assert response.json()["run_result"]["stdout"] == "1\n", response.text


def _answer_while_busy(http: httpx.Client, path: str, body: Any) -> httpx.Response:
    """The answer to a request while another one runs a program that spins."""
    spinning = {**VERL, "code": SPIN, "run_timeout": 0.3}
    deadline = time.monotonic() + 60
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(http.post, "/run_code", json=spinning)
        while time.monotonic() < deadline:
            response = http.post(path, json=body)
            if response.status_code != 200 or "are waiting" in response.text:
                break
            if first.done():  # it came when this one was being served
                first = pool.submit(http.post, "/run_code", json=spinning)
    return response


@pytest.mark.slow
def test_a_client_is_answered_before_it_gives_up(busy: str) -> None:
    """SkyRL-agent waits for two seconds more than the program may run, not for its minute."""
    body = {"code": SLEEP, "language": "python", "stdin": "", "run_timeout": 1}
    with httpx.Client(base_url=busy, timeout=30) as http:
        assert http.post("/run_code", json=body).status_code in (200, 504)


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service with one verifier, two protocols and small bodies."""
    log = tmp_path_factory.mktemp("limited") / "service.log"
    flags = (
        *("--workers", "1", "--enabled", "accuracy", "--compat", "openrlhf,sandbox_fusion"),
        *("--max-body-bytes", "1000"),
    )
    with running_service(log, *flags) as url, httpx.Client(base_url=url, timeout=600) as http:
        yield http


@pytest.mark.slow
def test_protocols_can_be_switched_off(limited: httpx.Client) -> None:
    paths = set(limited.get("/openapi.json").json()["paths"])
    assert paths >= {"/run_code", "/get_reward"}
    assert paths & {"/compat/slime/rm", "/verify", "/execute_batch"} == set()
    assert limited.post("/compat/slime/rm", json={}).status_code == 404


@pytest.mark.slow
def test_a_body_that_is_too_large_is_413(limited: httpx.Client) -> None:
    response = limited.post("/get_reward", json={"query": ["x" * 2000], "labels": ["4"]})
    assert (response.status_code, response.json()["error"]["type"]) == (413, "body_too_large")


@pytest.mark.slow
def test_programs_are_refused_where_code_is_not_enabled(limited: httpx.Client) -> None:
    error = post(limited, "/run_code", {"code": "print(1)"}, 422)["error"]
    assert "not enabled here: ['code']" in error["message"]


def test_every_path_is_in_the_document_with_its_models(http: httpx.Client) -> None:
    paths = http.get("/openapi.json").json()["paths"]
    for path in (
        *("/run_code", "/compat/openrlhf/get_reward", "/get_reward", "/compat/slime/rm"),
        *("/verify", "/seed_session", "/aggregate_metrics", "/test_program"),
        *("/test_program_stdio", "/api/v2/execute", "/execute_batch"),
    ):
        operation = paths[path]["post"]
        assert operation["requestBody"]["content"]["application/json"]["schema"], path
        assert operation["responses"]["200"]["content"]["application/json"]["schema"], path
    for path in ("/v1/ping", "/reverify_mode", "/health", "/api/v2/runtimes"):
        assert paths[path]["get"]["responses"]["200"]["content"], path


def test_every_protocol_is_named() -> None:
    assert set(ROUTERS) == {
        *("sandbox_fusion", "openrlhf", "slime", "nemo_gym", "open_instruct", "piston", "open_r1")
    }
    assert "run_program" not in VERIFIERS


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a service with one worker of each kind, for those who have its key."""
    log = tmp_path_factory.mktemp("keyed") / "service.log"
    flags = ("--workers", "1", "--code-workers", "1", "--api-key-hashes", hash_of("secret"))
    with running_service(log, *flags) as url:
        yield url


@pytest.mark.slow
def test_api_keys_protect_the_protocols_and_may_be_in_a_url(keyed: str) -> None:
    with_key = keyed.replace("http://", "http://any:secret@")
    wrong = keyed.replace("http://", "http://any:wrong@")
    query, program = {"query": ["4"], "labels": ["4"]}, {**VERL, "code": "print(1)"}
    for path, body in (("/get_reward", query), ("/run_code", program)):
        for refused in (keyed, wrong):
            assert httpx.post(f"{refused}{path}", json=body, timeout=600).status_code == 401
        assert httpx.post(f"{with_key}{path}", json=body, timeout=600).status_code == 200
    assert httpx.get(f"{keyed}/v1/ping", headers=BEARER, timeout=600).text == '"pong"'


def test_a_program_that_is_too_large_is_no_reason_to_try_again(http: httpx.Client) -> None:
    found = run_code(http, "#" * (5 * 2**20))
    assert (found["status"], found["message"]) == ("SandboxError", "the program is too_large")


def test_a_script_that_is_too_large_has_no_value(http: httpx.Client) -> None:
    (found,) = post(http, "/execute_batch", {"scripts": ["#" * (5 * 2**20)]})
    assert (found["execution"], found["exception_str"]) == (None, "the program is too_large")


def test_input_that_is_too_large_is_no_reason_to_try_again(http: httpx.Client) -> None:
    found = run_code(http, "print(1)", stdin="x" * (17 * 2**20))
    assert found["status"] == "SandboxError"
    assert found["message"] == (
        "the program's input and files are more than is taken (bad_reference)"
    )


@pytest.mark.parametrize(("path", "status"), [("/run_code", 504), ("/get_reward", 503)])
def test_while_the_service_ends_clients_are_told_to_try_again(path: str, status: int) -> None:
    async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError(scope["path"])

    async def ask() -> httpx.Response:
        drain = Drain()
        drain.is_draining = True
        app = CallContext(
            nothing,
            keys=KeyRing(()),
            sites=Sites(None, frozenset()),
            drain=drain,
            metrics=Metrics(),
            try_later_statuses=TRY_LATER_STATUSES,
        )
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            return await http.post(path, json={})

    assert asyncio.run(ask()).status_code == status


@pytest.mark.slow
def test_a_right_program_waits_for_no_loop_and_no_sleeper(keyed: str) -> None:
    """One program runs at a time; those that loop or sleep would hold that place for minutes.

    When their clients hang up, the service ends them.
    """

    async def ask() -> list[str]:
        async with httpx.AsyncClient(base_url=keyed, headers=BEARER, timeout=600) as http:
            others = [
                asyncio.create_task(
                    http.post("/run_code", json={**VERL, "code": code, "run_timeout": 200})
                )
                for code in (SPIN, SLEEP, SPIN)
            ]
            responses = [
                await http.post("/run_code", json={**VERL, "code": SQUARE, "stdin": "3"})
                for _ in range(5)
            ]
            for other in others:
                other.cancel()
            await asyncio.gather(*others, return_exceptions=True)
        return [response.json()["run_result"]["stdout"] for response in responses]

    assert asyncio.run(ask()) == ["9\n"] * 5
    with httpx.Client(base_url=keyed, headers=BEARER, timeout=600) as http:
        until(lambda: 'verifier_workers_busy{kind="code"} 0.0' in metrics(http))


def test_loops_beside_each_other_exceed_their_limit(http: httpx.Client) -> None:
    """More than there are processors, so that each gets a part of its time only."""

    async def ask() -> list[str]:
        async with httpx.AsyncClient(base_url=http.base_url, timeout=600) as client:
            spinning = {**VERL, "code": SPIN, "run_timeout": 0.5}
            asked = (client.post("/run_code", json=spinning) for _ in range(6))
            responses = await asyncio.gather(*asked)
        return [response.json()["run_result"]["status"] for response in responses]

    assert asyncio.run(ask()) == ["TimeLimitExceeded"] * 6


@pytest.mark.parametrize(
    ("deadline_seconds", "client_waits_seconds"),
    [
        (openrlhf.DEADLINE_SECONDS, 180),
        (slime.DEADLINE_SECONDS, 120),
        (nemo_gym.DEADLINE_SECONDS, 30),  # axolotl
        (piston.DEADLINE_SECONDS, 30),  # open-r1
        (piston.MAX_COMPILE_SECONDS + piston.MAX_RUN_SECONDS, piston.DEADLINE_SECONDS),
        (open_r1.DEADLINE_SECONDS, 28),
        (sandbox_fusion.MARGIN_SECONDS, 10),  # verl, beyond compiling and running
        (open_instruct.SHARE_OF_WAIT * open_instruct.MIN_WAIT_SECONDS, 30),
    ],
)
def test_the_service_gives_up_before_its_clients_do(
    deadline_seconds: float, client_waits_seconds: float
) -> None:
    assert deadline_seconds < client_waits_seconds
