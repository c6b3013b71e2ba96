"""The SDK of E2B's code interpreter, pointed at the service by its own environment variables."""

from __future__ import annotations

import asyncio

import pytest

from tests.interop.peer import peer

e2b = peer("e2b_code_interpreter")

pytestmark = pytest.mark.interop


@pytest.fixture(autouse=True)
def points_here(service_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("E2B_API_URL", "E2B_SANDBOX_URL"):
        monkeypatch.setenv(name, f"{service_url}/compat/e2b")
    monkeypatch.setenv("E2B_API_KEY", "none")


def test_a_sandbox_keeps_its_state_and_gives_outputs_values_and_errors() -> None:
    sandbox = e2b.Sandbox.create(timeout=120)
    assert sandbox.is_running()
    streamed: list[str] = []
    first = sandbox.run_code(
        "x = 20\nprint('set')", on_stdout=lambda out: streamed.append(out.line)
    )
    assert (first.logs.stdout, streamed) == (["set\n"], ["set\n"])
    assert (first.results, first.error) == ([], None)
    second = sandbox.run_code("import sys\nprint('no', file=sys.stderr)\nx + 22")
    assert (second.text, second.logs.stderr) == ("42", ["no\n"])
    assert second.execution_count == 2
    raised = sandbox.run_code("int('one')")
    assert raised.error.name == "ValueError"
    assert raised.error.value == "invalid literal for int() with base 10: 'one'"
    assert raised.error.traceback.startswith("Traceback")
    sandbox.set_timeout(60)
    assert sandbox.kill() is True
    assert sandbox.kill() is False
    assert not sandbox.is_running()
    with pytest.raises(e2b.TimeoutException, match="the sandbox is gone: a client has ended it"):
        sandbox.run_code("1")


def test_the_time_that_a_client_waits_ends_its_wait_and_not_its_sandbox() -> None:
    with e2b.Sandbox.create(timeout=120) as sandbox:
        with pytest.raises(e2b.TimeoutException, match="Execution timed out"):
            sandbox.run_code("import time\ntime.sleep(2)\nx = 7", timeout=0.5)
        assert sandbox.run_code("x").text == "7"


def test_what_is_not_served_is_an_error_of_the_sdk_s_own() -> None:
    with e2b.Sandbox.create(timeout=120) as sandbox:
        with pytest.raises(e2b.SandboxException, match="only python is run here, not 'r'"):
            sandbox.run_code("1", language="r")
        with pytest.raises(e2b.SandboxException):
            sandbox.files.write("a.txt", "text")
    with pytest.raises(e2b.SandboxException, match=r"set os\.environ in code"):
        e2b.Sandbox.create(timeout=120, envs={"A": "1"})


def test_sandboxes_are_opened_by_many_tasks_as_a_reward_function_does() -> None:
    """open-r1's provider opens a sandbox for each script and reads the value of its last line."""

    async def run(number: int) -> float:
        sandbox = await e2b.AsyncSandbox.create(timeout=120, request_timeout=60)
        try:
            execution = await sandbox.run_code(f"rate = {number} / 8\nrate", language="python")
            return float(execution.text)
        finally:
            await sandbox.kill()

    async def run_all() -> list[float]:
        return await asyncio.gather(*map(run, range(8)))

    assert asyncio.run(run_all()) == [number / 8 for number in range(8)]
