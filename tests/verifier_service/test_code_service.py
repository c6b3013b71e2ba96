"""`code` through the service: verdicts, scores, details, and what happens without a sandbox."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from tests.verifier_service.test_score import score, verdicts
from verifier_service import frames
from verifier_service.code.plain_run import RunOptions, as_reference, run_completion
from verifier_service.code.reference_tests import read_tests
from verifier_service.code.run_tests import ENTRIES
from verifier_service.code.verdicts import judge_completion
from verifier_service.completion import Completion
from verifier_service.engine.request_scoring import Scoring
from verifier_service.engine.scheduler import Scheduler
from verifier_service.sandbox.runner import Runner
from verifier_service.schemas import ScoreRequest
from verifier_service.settings import Settings
from verifier_service.verdict import Verdict
from verifier_service.verifiers.code import Code
from verifier_service.worker_pools import start_pools
from verifier_service.workers.code_worker import verdict_of
from verifier_service.workers.limits import ItemLimits
from verifier_service.workers.pool import WorkerPool
from verifier_service.workers.server_process import WorkerStartError
from verifier_service.workers.sources import CodeWorkers, StartedWorker
from verifier_service.workers.tasks import EncodedTask, Task, TaskPart, TaskResult

SQUARE = {
    "type": "stdio",
    "cases": [{"stdin": "3", "stdout": "9"}, {"stdin": "4", "stdout": "16"}],
}


def block(source: str) -> str:
    return f"The program:\n```python\n{source}\n```\n"


RIGHT, HALF, WRONG = block("print(int(input())**2)"), block("print(9)"), block("print(0)")


def judge(
    http: httpx.Client, *completions: str, tests: Any = SQUARE, **options: Any
) -> list[dict[str, Any]]:
    return verdicts(http, {"type": "code", **options}, *completions, tests=tests)


def test_programs_get_verdicts_in_order(http: httpx.Client) -> None:
    found = judge(http, WRONG, RIGHT, "I cannot.", block("print("), HALF, RIGHT)
    assert [(v["outcome"], v["score"], v["reason"]) for v in found] == [
        ("scored", 0.0, "wrong_answer"),
        ("scored", 1.0, "passed"),
        ("scored", 0.0, "no_code"),
        ("scored", 0.0, "compile_error"),
        ("scored", 0.0, "wrong_answer"),
        ("scored", 1.0, "passed"),
    ]


def test_details_tell_how_far_it_came(http: httpx.Client) -> None:
    (half,) = judge(http, HALF)
    assert half["details"] == {"passed": 1, "total": 2, "first_failed": 1, "output": "9\n"}
    (shown,) = judge(http, HALF, reveal_expected=True)
    assert shown["details"]["expected"] == "16"


def test_a_share_of_the_tests_can_be_the_score(http: httpx.Client) -> None:
    found = judge(http, WRONG, HALF, RIGHT, scoring="fraction")
    assert [verdict["score"] for verdict in found] == [0.0, 0.5, 1.0]


def test_what_the_sandbox_cannot_run_is_failed_logged_and_timed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def judge_after_the_end() -> list[Verdict]:
        async with Runner(1, entries=ENTRIES) as runner:
            pass
        judges = [
            partial(run_completion, runner, as_reference(RunOptions(language="python"))),
            partial(judge_completion, runner, Code(), read_tests({"tests": SQUARE})),
        ]
        return [await verdict_of(judge, Completion(RIGHT)) for judge in judges]

    found = asyncio.run(judge_after_the_end())
    assert [(one.outcome, one.reason) for one in found] == [("failed", "sandbox_error")] * 2
    assert all(one.seconds > 0 for one in found)
    assert [record.getMessage() for record in caplog.records] == [
        "a program could not be run: the runner is closed"
    ] * 2


def test_limits_are_options(http: httpx.Client) -> None:
    (slow,) = judge(http, block("while True: pass"), cpu_seconds=0.2)
    (large,) = judge(http, block("x = ' ' * 10**9"), memory_bytes=2**27)
    (loud,) = judge(http, block("print('x' * 1000)"), output_bytes=100)
    assert slow["reason"] == "time_limit_exceeded"
    assert large["reason"] in ("memory_limit_exceeded", "runtime_error")
    assert loud["reason"] == "output_limit_exceeded"


def test_other_tags_can_be_asked_for(http: httpx.Client) -> None:
    completion = "```snake\nprint(int(input())**2)\n```"
    assert judge(http, completion)[0]["reason"] == "no_code"
    assert judge(http, completion, tags=["snake"])[0]["reason"] == "passed"


@pytest.mark.parametrize(
    ("tests", "reason", "message"),
    [
        (None, "missing_reference", "reference.tests is empty"),
        ({"type": "stdio"}, "bad_reference", "cases"),
        ({"type": "asserts", "code": "assert f("}, "bad_reference", "never closed"),
        ([{"input": "1", "output": "1"}], "bad_reference", "with reference_format `auto`"),
        (
            {
                "type": "stdio",
                "checker": {"source": "no program"},
                "cases": [{"stdin": "", "stdout": ""}],
            },
            "bad_reference",
            "a checker that does not compile; `expected` has the cause with the option reveal_exp",
        ),
        (
            {"type": "asserts", "code": "assert f(lambda: 1)"},
            "unsupported_test",
            "passed to the program: a function",
        ),
    ],
)
def test_the_fault_of_the_tests_is_not_the_programs(
    http: httpx.Client, tests: Any, reason: str, message: str
) -> None:
    (found,) = judge(http, block("def f(x): return x"), tests=tests)
    assert (found["outcome"], found["score"], found["reason"]) == ("unverifiable", None, reason)
    assert message in found["details"]["message"]


def test_code_and_other_verifiers_make_one_reward(http: httpx.Client) -> None:
    verifiers = [{"type": "code", "weight": 1.0}, {"type": "tag_count", "weight": 0.5}]
    group = {"reference": {"tests": SQUARE}, "completions": [RIGHT, f"<think>.</think>{RIGHT}"]}
    answer = score(http, {"verifiers": verifiers, "groups": [group]})
    assert [one["reward"] for one in answer["groups"][0]["completions"]] == [1.0, 1.25]


def test_equal_programs_are_run_once(http: httpx.Client) -> None:
    group = {"reference": {"tests": SQUARE}, "completions": [RIGHT, WRONG, RIGHT]}
    answer = score(http, {"verifiers": [{"type": "code"}], "groups": [group]})
    first, _, third = answer["groups"][0]["completions"]
    assert first == third  # `seconds` included
    assert answer["stats"]["deduplicated"] == 1


@pytest.mark.slow
def test_only_the_kinds_of_workers_that_are_needed_are_started() -> None:
    async def kinds(*enabled: str) -> list[str]:
        settings = Settings(enabled=enabled, workers=1, code_workers=1)
        async with AsyncExitStack() as stack:
            return list(await start_pools(settings, stack))

    assert asyncio.run(kinds("code")) == ["code"]
    assert asyncio.run(kinds("format")) == ["text"]


class Broken:
    """A source of workers whose sandbox does not start."""

    alive = True

    def start_worker(self) -> StartedWorker:
        raise WorkerStartError("no Landlock here")

    def close(self) -> None:
        pass


class Idle:
    """A pool that judges nothing."""

    size = 1
    problem = None

    async def judge(self, task: EncodedTask, verdicts: list[TaskResult]) -> None:
        raise AssertionError(task)


def test_without_a_sandbox_programs_fail_and_say_so() -> None:
    request = ScoreRequest.model_validate(
        {
            "verifiers": [{"type": "code"}],
            "groups": [{"reference": {"tests": SQUARE}, "completions": [RIGHT]}],
        }
    )

    async def run() -> tuple[str | None, Verdict]:
        async with WorkerPool(1, ItemLimits(1.0, 2**30), Broken) as pool:
            scheduler = Scheduler({"text": Idle(), "code": pool}, max_cached_verdicts=0)
            scored = await Scoring(request, scheduler).run(60)
            return pool.problem, scored.groups[0][0]["code"]

    problem, verdict = asyncio.run(run())
    assert problem is not None
    assert "no Landlock here" in problem
    assert (verdict.outcome, verdict.score, verdict.reason) == ("failed", None, "sandbox_error")


def test_a_worker_that_ends_by_a_mistake_does_not_log_what_it_had(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """Only what went wrong, and where."""
    source = CodeWorkers()
    try:
        worker = source.start_worker()
        part = TaskPart.of({"tests": SQUARE}, [Completion("the text of a model")])
        task = Task.of({"type": "code", "language": "the text of a model"}, [part])
        with worker.connection:
            worker.connection.sendall(frames.pack(msgspec.msgpack.encode(task)))
            assert worker.connection.recv(1) == b""
        worker.position.close()
        os.close(worker.pidfd)
    finally:
        source.close()
    log = capfd.readouterr().err
    assert "a code worker ends: ValidationError at " in log
    assert "code_worker.py:" in log
    assert "the text of a model" not in log


def test_a_worker_that_cannot_be_started_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No descriptor stays open, and no directory stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "missing"))
    source = CodeWorkers()
    before = os.listdir("/proc/self/fd")
    with pytest.raises(WorkerStartError, match="No such file"):
        source.start_worker()
    assert os.listdir("/proc/self/fd") == before
    assert list(tmp_path.iterdir()) == []
