"""`POST /v1/execute`: programs run without a verdict on them."""

from __future__ import annotations

import gzip
import json
from typing import Any

import httpx
import pytest

from verifier_service.code.plain_run import RunOptions, RunReport
from verifier_service.executions.batch import report_of
from verifier_service.executions.reasons import FAILED_REASONS, EndReason, RunOutcome
from verifier_service.executions.wire import ExecutionSpec, file_content
from verifier_service.reason import EngineReason
from verifier_service.verdict import Outcome, Verdict, failed, unverifiable

NDJSON = {"Accept": "application/x-ndjson"}


def execute(http: httpx.Client, *executions: dict[str, Any], **fields: Any) -> list[dict[str, Any]]:
    response = http.post("/v1/execute", json={"executions": list(executions), **fields})
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()["executions"]
    assert len(found) == len(executions)
    return found


def test_results_stand_in_the_order_of_the_request(http: httpx.Client) -> None:
    slow = {"id": "slow", "code": "import time; time.sleep(0.3); print(1)"}
    found = execute(http, slow, *({"code": f"print({n})"} for n in range(2, 8)))
    assert [one["stdout"] for one in found] == [f"{n}\n" for n in range(1, 8)]
    assert found[0]["id"] == "slow"
    assert {one["reason"] for one in found} == {"completed"}


ENDS: dict[str, tuple[dict[str, Any], str]] = {
    "exit code 0": ({"code": "pass"}, "completed"),
    "exit code 3": ({"code": "raise SystemExit(3)"}, "runtime_error"),
    "an exception": ({"code": "1 / 0"}, "runtime_error"),
    "a signal": ({"code": "import os; os.kill(os.getpid(), 11)"}, "runtime_error"),
    "no program": ({"code": "def"}, "compile_error"),
    "endless": ({"code": "while True: pass", "limits": {"seconds": 0.3}}, "time_limit_exceeded"),
    "asleep": (
        {"code": "import time; time.sleep(1e6)", "limits": {"seconds": 0.3}},
        "time_limit_exceeded",
    ),
    "a flood": ({"code": "while True: print('x' * 999)"}, "output_limit_exceeded"),
    "more than it asked for": (
        {"code": "print('x' * 1000)", "limits": {"output_bytes": 512}},
        "output_limit_exceeded",
    ),
    "memory": (
        {
            "code": "held = []\nwhile True: held.append(bytearray(2**20))",
            "limits": {"memory_bytes": 2**26},
        },
        "memory_limit_exceeded",
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_end_has_its_reason(http: httpx.Client, name: str) -> None:
    asked, reason = ENDS[name]
    (found,) = execute(http, asked)
    assert (found["outcome"], found["reason"]) == ("ran", reason)


def test_a_program_has_input_arguments_and_files(http: httpx.Client) -> None:
    code = """
import sys
print(input(), sys.argv[1:], open("data/a.txt").read(), open("b", "rb").read())
open("out.txt", "w").write("text")
open("out.bin", "wb").write(b"\\xff")
"""
    (found,) = execute(
        http,
        {
            "code": code,
            "stdin": "said",
            "arguments": ["x", "y z"],
            "files": {"data/a.txt": "inside", "b": {"base64": "/w=="}},
            "fetch": ["out.txt", "out.bin", "none"],
        },
    )
    assert found["stdout"] == "said ['x', 'y z'] inside b'\\xff'\n"
    assert found["files"] == {"out.txt": "text", "out.bin": {"base64": "/w=="}}


def test_equal_programs_are_run_each(http: httpx.Client) -> None:
    found = execute(http, *[{"code": "import random; print(random.random())"}] * 6)
    assert len({one["stdout"] for one in found}) == 6


def test_lines_come_as_programs_end(http: httpx.Client) -> None:
    asked = {"executions": [{"code": "import time; time.sleep(1)"}, {"id": "b", "code": "1"}]}
    with http.stream("POST", "/v1/execute", json=asked, headers=NDJSON) as response:
        lines = [json.loads(line) for line in response.iter_lines()]
    *reports, last = lines
    assert [one["index"] for one in reports] == [1, 0]
    assert reports[0]["id"] == "b"
    assert last["stats"]["executions"] == 2


def test_a_large_request_is_handled_in_a_process(http: httpx.Client) -> None:
    asked = [{"code": f"print({n}, len(input()))", "stdin": "x" * 200_000} for n in range(8)]
    found = execute(http, *asked)
    assert [one["stdout"] for one in found] == [f"{n} 200000\n" for n in range(8)]
    response = http.post("/v1/execute", json={"executions": asked}, headers=NDJSON)
    lines = [json.loads(line) for line in response.text.splitlines()]
    assert sorted(one["index"] for one in lines[:-1]) == list(range(8))


def test_a_program_that_had_no_time_is_failed_and_has_no_facts(http: httpx.Client) -> None:
    endless = {"code": "while True: pass", "limits": {"seconds": 300}}
    (found,) = execute(http, endless, deadline_seconds=0.5)
    assert found == {"outcome": "failed", "reason": "deadline"}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"language": "cobol"}, "body.executions.0.language"),
        ({"files": {"../up": ""}}, "body.executions.0.files"),
        ({"files": {"a": {"base64": "?"}}}, "body.executions.0.files"),
        ({"files": {"a": 1}}, "body.executions.0.files.a"),
        ({"fetch": ["/etc/passwd"]}, "body.executions.0.fetch"),
        ({"arguments": ["\0"]}, "body.executions.0.arguments"),
        ({"limits": {"seconds": 0}}, "body.executions.0.limits.seconds"),
        ({"limits": {"memory_bytes": 2**40}}, "body.executions.0.limits.memory_bytes"),
        ({"sdtin": ""}, "body.executions.0.sdtin"),
    ],
)
def test_a_wrong_field_is_named(http: httpx.Client, fields: dict[str, Any], named: str) -> None:
    response = http.post("/v1/execute", json={"executions": [{"code": "", **fields}]})
    assert response.status_code == 422
    assert response.json()["error"]["details"][0]["field"] == named


@pytest.mark.parametrize("path", ["/v1/execute", "/v1/sessions", "/run_code", "/verify"])
def test_a_compressed_body_is_refused_as_such(http: httpx.Client, path: str) -> None:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    refused = http.post(path, content=gzip.compress(b"{}"), headers=headers)
    assert refused.status_code == 415
    assert "takes no compressed bodies, found Content-Encoding 'gzip'" in refused.text


def test_no_programs_are_refused(http: httpx.Client) -> None:
    assert http.post("/v1/execute", json={"executions": []}).status_code == 422
    assert http.get("/v1/execute").status_code == 405


SPEC = ExecutionSpec(code="")


@pytest.mark.parametrize(
    ("verdict", "outcome", "reason"),
    [
        (failed(EngineReason.DEADLINE), "failed", "deadline"),
        (failed(EngineReason.WORKER_DIED), "failed", "sandbox_error"),
        (unverifiable(EngineReason.BAD_REFERENCE), "failed", "sandbox_error"),
        (Verdict(Outcome.SCORED, 0.0, EngineReason.TOO_LARGE, 0.0), "ran", "memory_limit_exceeded"),
        (Verdict(Outcome.SCORED, 0.0, EngineReason.TOO_SLOW, 0.0), "ran", "time_limit_exceeded"),
    ],
)
def test_a_verdict_without_a_run_is_never_an_empty_run(
    verdict: Verdict, outcome: str, reason: str
) -> None:
    found = report_of(SPEC, verdict)
    assert (found.outcome, found.reason) == (outcome, reason)
    assert found.stdout is None


def test_a_language_without_tools_is_our_failure() -> None:
    problem = RunReport(compiled=None, run=None, problem="install gcc")
    details = {"compiled": problem.compiled, "run": problem.run, "problem": problem.problem}
    found = report_of(SPEC, Verdict(Outcome.SCORED, 1.0, "ran", 0.0, None, details))
    assert (found.outcome, found.reason) == (RunOutcome.FAILED, EndReason.NO_TOOLCHAIN)
    assert found.message == "install gcc"


def test_every_reason_has_one_outcome() -> None:
    assert {one for one in EndReason if one.meaning.startswith("failed: ")} == FAILED_REASONS


def test_files_of_bytes_that_are_no_text() -> None:
    assert file_content(b"caf\xc3\xa9") == "café"
    assert RunOptions(language="python", place=1) != RunOptions(language="python", place=2)
