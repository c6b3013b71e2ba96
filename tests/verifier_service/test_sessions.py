"""`/v1/sessions`: interpreters that keep their state between calls."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes import pid_in, state_of, tree, until
from trainer_client.service_process import running_service
from verifier_service.http.api_keys import hash_of, new_key


class Opened:
    """A session, by the wire."""

    def __init__(self, http: httpx.Client, **asked: Any) -> None:
        response = http.post("/v1/sessions", json=asked)
        assert response.status_code == 201, response.text
        self.http = http
        self.described = response.json()
        self.path = f"/v1/sessions/{self.described['id']}"

    def ask(self, code: str, **fields: Any) -> httpx.Response:
        return self.http.post(self.path, json={"code": code, **fields})

    def run(self, code: str, **fields: Any) -> dict[str, Any]:
        response = self.ask(code, **fields)
        assert response.status_code == 200, response.text
        found: dict[str, Any] = response.json()
        return found

    def end(self) -> None:
        self.http.delete(self.path)


@contextmanager
def opened(http: httpx.Client, **asked: Any) -> Iterator[Opened]:
    session = Opened(http, **asked)
    try:
        yield session
    finally:
        session.end()


@pytest.fixture
def python(http: httpx.Client) -> Iterator[Opened]:
    with opened(http) as session:
        yield session


def test_variables_and_files_last_from_call_to_call(python: Opened) -> None:
    first = python.run("x = 20\nopen('kept', 'w').write('text')\nprint('set')", call=1)
    assert (first["call"], first["outcome"], first["reason"]) == (1, "ran", "completed")
    assert (first["stdout"], first["stdout_bytes"], first["session"]) == ("set\n", 4, "idle")
    second = python.run("x * 2 + 2, open('kept').read()")
    assert second["value"] == "(42, 'text')"


def test_an_exception_ends_a_call_and_not_the_session(python: Opened) -> None:
    python.run("x = 1")
    found = python.run("def f():\n    return x / 0\nf()")
    assert (found["reason"], found["session"]) == ("runtime_error", "idle")
    assert found["error"]["name"] == "ZeroDivisionError"
    assert found["error"]["traceback"].splitlines()[1].startswith('  File "<call 2>", line 3')
    assert python.run("x")["value"] == "1"


FORGE = """
import json, os, sys
def token():
    frame = sys._getframe()
    while not isinstance(frame.f_locals.get('call'), dict):
        frame = frame.f_back
    return frame.f_locals['call']['token']
def forge(**fields):
    reply = {'token': token(), 'error': None, 'display': [], 'files': [], **fields}
    content = json.dumps(reply, ensure_ascii=False).encode()
    os.write(5, len(content).to_bytes(4, 'big') + content)
    while True: pass
"""
"""Has a call send a reply of its own, which is well formed but for the fields given."""
CALLS: dict[str, tuple[str, str, str]] = {
    "a syntax error": ("def", "runtime_error", "idle"),
    "exit without an error": ("exit()", "completed", "idle"),
    "exit with an error": ("raise SystemExit(3)", "runtime_error", "idle"),
    "memory": ("held = bytearray(2**40)", "runtime_error", "idle"),
    "the process ends": ("import os; os._exit(0)", "completed", "ended"),
    "a crash": ("import os; os.kill(os.getpid(), 11)", "runtime_error", "ended"),
    "a closed channel": (
        "import os, time\nos.close(5)\nwhile True: time.sleep(1)",
        "sandbox_violation",
        "ended",
    ),
    "a forged reply": (
        "import os\nos.write(5, b'\\0\\0\\0\\2{}')\nwhile True: pass",
        "sandbox_violation",
        "ended",
    ),
    "a reply to another call": (
        'import os\nreply = b\'{"token": "x"}\'\n'
        "os.write(5, len(reply).to_bytes(4, 'big') + reply)\nwhile True: pass",
        "sandbox_violation",
        "ended",
    ),
    "a token that is no ASCII": (
        f"{FORGE}forge(token='\u00e9')",
        "sandbox_violation",
        "ended",
    ),
    "a form that no value has": (
        f"{FORGE}forge(display=[{{'text/other': ''}}])",
        "sandbox_violation",
        "ended",
    ),
    "more values than a call shows": (
        f"{FORGE}forge(display=[{{}}] * 17)",
        "sandbox_violation",
        "ended",
    ),
    "more bytes of files than a call may have": (
        f"{FORGE}forge(files=['A' * 2**22, 'A' * 2**22])",
        "sandbox_violation",
        "ended",
    ),
    "a reply that is no UTF-8": (
        'import os\nreply = b\'{"token": "\\xff"}\'\n'
        "os.write(5, len(reply).to_bytes(4, 'big') + reply)\nwhile True: pass",
        "sandbox_violation",
        "ended",
    ),
    "a file that is no base64": (
        f"{FORGE}forge(files=['x'])",
        "sandbox_violation",
        "ended",
    ),
    "an endless reply": (
        "import os\nos.write(5, b'\\xff' * 4)\nwhile True: pass",
        "sandbox_violation",
        "ended",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CALLS)
def test_a_call_ends_as_expected(python: Opened, name: str) -> None:
    code, reason, session = CALLS[name]
    found = python.run(code, fetch=["a", "b"])
    assert (found["outcome"], found["reason"], found["session"]) == ("ran", reason, session)
    if session == "ended":
        assert lost_reason(python.ask("1")) == "own_end"


def test_a_file_that_was_not_asked_for_is_not_in_the_response(python: Opened) -> None:
    found = python.run(f"{FORGE}forge(files=['YQ==', 'Yg==', 'Yw=='])", fetch=["a", "b"])
    assert found["files"] == {"a": "a", "b": "b"}


def test_a_channel_of_bash_with_a_byte_that_is_no_text(http: httpx.Client) -> None:
    with opened(http, language="bash") as session:
        found = session.run("printf '\\xff 0\\0' >&5; while :; do :; done")
        assert (found["outcome"], found["reason"]) == ("ran", "sandbox_violation")


def lost_reason(response: httpx.Response) -> str:
    assert response.status_code == 410, response.text
    error = response.json()["error"]
    assert error["type"] == "session_lost"
    return str(error["details"]["reason"])


ENDLESS = {
    "a loop": ("while True: pass", "idle"),
    "a sleep": ("import time; time.sleep(1e6)", "idle"),
    "a loop that catches everything once": (
        "try:\n    while True: pass\nexcept BaseException: pass",
        "idle",
    ),
    # In two loops: an interruption between the `except` of the inner one and its next `try` would
    # get out of one.
    "a loop that goes on": (
        "while True:\n try:\n  while True:\n   try:\n    while True: sum(())\n"
        "   except BaseException: pass\n except BaseException: pass",
        "ended",
    ),
    "a loop that ignores signals": (
        "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass",
        "ended",
    ),
    "one long operation": ("import itertools; sum(itertools.repeat(1))", "ended"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_call_meets_its_limit(python: Opened, name: str) -> None:
    code, session = ENDLESS[name]
    python.run("x = 1")
    found = python.run(code, seconds=4)  # on a busy machine a program takes seconds to begin
    assert (found["reason"], found["session"]) == ("time_limit_exceeded", session)
    if session == "idle":
        assert python.run("x")["value"] == "1"


def test_output_beyond_the_limit_is_counted_and_dropped(http: httpx.Client) -> None:
    with opened(http, limits={"output_bytes": 1000}) as session:
        found = session.run("print('x' * 300_000)")
        assert (len(found["stdout"]), found["stdout_bytes"]) == (1000, 300_001)
        assert session.run("print('next')")["stdout"] == "next\n"


def test_a_flood_ends_the_session(python: Opened) -> None:
    found = python.run("while True: print('x' * 60_000)")
    assert (found["reason"], found["session"]) == ("output_limit_exceeded", "ended")


def test_a_full_directory_is_an_error_of_the_call(http: httpx.Client) -> None:
    with opened(http, limits={"file_bytes": 2**20}) as session:
        found = session.run("open('f', 'wb').write(bytes(2**22))")
        assert found["error"]["name"] == "OSError"
        assert session.run("1")["value"] == "1"


def test_nothing_happens_between_calls(python: Opened, service_pid: int) -> None:
    """A session is stopped with all its threads: what was started waits for the next call."""
    python.run("import threading, time\nticks = 0")
    python.run("""
def tick():
    global ticks
    while True:
        ticks += 1
        time.sleep(0.001)
threading.Thread(target=tick, daemon=True).start()
while ticks == 0: pass
""")
    assert python.http.get(python.path).json()["state"] == "idle"
    until(lambda: bool(stopped(service_pid)))
    assert int(python.run("while ticks < 20: pass\nticks")["value"]) >= 20


def stopped(service: int) -> list[int]:
    """The processes of idle sessions."""
    return [pid for pid in tree(service) if state_of(pid) == "T"]


def test_a_call_has_files_and_answers_with_files(http: httpx.Client) -> None:
    with opened(http, files={"given.txt": "at first"}) as session:
        found = session.run(
            "print(open('given.txt').read(), open('sub/b', 'rb').read())\n"
            "open('out', 'wb').write(b'\\xff')",
            files={"sub/b": {"base64": "/w=="}},
            fetch=["out", "none", "sub/b"],
        )
        assert found["stdout"] == "at first b'\\xff'\n"
        assert found["files"] == {"out": {"base64": "/w=="}, "sub/b": {"base64": "/w=="}}


def test_packages_are_those_that_were_asked_for(http: httpx.Client) -> None:
    code = "import numpy; numpy.arange(3).sum() == 3"
    with opened(http) as scientific, opened(http, packages="standard") as standard:
        assert scientific.run(code)["value"] == "np.True_"
        assert standard.run(code)["error"]["name"] == "ModuleNotFoundError"


def test_values_are_shown_in_their_forms(python: Opened) -> None:
    found = python.run("display(1)\nclass A:\n    def _repr_html_(self): return '<b>'\nA()")
    assert found["display"][0] == {"text/plain": "1"}
    assert found["display"][1]["text/html"] == "<b>"
    assert len(python.run("'x' * 10**6")["value"]) == 2**16


def test_the_largest_values_fit_a_reply(python: Opened) -> None:
    """Each character takes 6 bytes of JSON; what does not fit is left out."""
    found = python.run(
        "class A:\n"
        "    def __repr__(self): return '\\x01' * 2**16\n"
        "    def _repr_html_(self): return '\\x01' * 2**18\n"
        "    def _repr_latex_(self): return '\\ud800'\n"
        "open('big', 'wb').write(b'\\xff' * 2**22)\n"
        "display(*[A()] * 16)\n"
        "raise ValueError('\\x01' * 2**16)",
        fetch=["big"],
    )
    forms = [sorted(one) for one in found["display"]]
    assert (
        forms == [["text/html", "text/latex", "text/plain"]] + [["text/latex", "text/plain"]] * 15
    )
    assert found["display"][1]["text/latex"] == "?"
    assert len(found["files"]["big"]["base64"]) > 2**22


def test_text_that_json_cannot_hold(python: Opened) -> None:
    found = python.run("class A:\n    def __repr__(self): return '\\ud800'\nA()")
    assert found["value"] == "?"


# Bash


def test_bash_keeps_its_variables(http: httpx.Client) -> None:
    with opened(http, language="bash", files={"a": "inside"}) as session:
        session.run("x=5; f() { echo $((x + $1)); }")
        found = session.run('f 2; read -r l < a; echo "$l" >&2; false')
        assert (found["stdout"], found["stderr"], found["exit_code"]) == ("7\n", "inside\n", 1)
        assert found["reason"] == "runtime_error"
        assert session.run('read -r x; echo "[$x]"')["stdout"] == "[]\n"
        last = session.run("exit 3")
        assert (last["session"], last["exit_code"]) == ("ended", 3)


def test_an_endless_call_of_bash_ends_its_session(http: httpx.Client) -> None:
    with opened(http, language="bash") as session:
        found = session.run("while :; do :; done", seconds=0.2)
        assert (found["reason"], found["session"]) == ("time_limit_exceeded", "ended")


@pytest.mark.parametrize("fields", [{"files": {"a": ""}}, {"fetch": ["a"]}])
def test_bash_takes_no_files_with_a_call(http: httpx.Client, fields: dict[str, Any]) -> None:
    with opened(http, language="bash") as session:
        response = session.ask("echo", **fields)
        assert response.status_code == 422
        assert response.json()["error"]["details"][0]["field"] == f"body.{next(iter(fields))}"


# Calls and their numbers


def test_a_lost_response_is_asked_for_with_its_number(python: Opened) -> None:
    first = python.run("n = 0", call=1)
    assert python.run("n = 0", call=1) == first
    assert python.run("n", call=2)["value"] == "0"
    wrong = python.ask("1", call=7)
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (409, "wrong_call")


@pytest.mark.parametrize("fields", [{"code": "n = 2"}, {"code": "n = 0", "fetch": ["a"]}])
def test_the_number_of_another_call_gets_no_response(
    python: Opened, fields: dict[str, Any]
) -> None:
    python.run("n = 0", call=1)
    wrong = python.http.post(python.path, json={"call": 1, **fields})
    assert (wrong.status_code, wrong.json()["error"]["type"]) == (409, "wrong_call")
    assert wrong.json()["error"]["message"].startswith("call 1 of the session asked for something")
    assert python.run("n", call=2)["value"] == "0"


ENDING = "print('the last')\nimport os, sys\nsys.stdout.flush()\nos._exit(3)"


def test_the_response_to_the_call_that_ends_a_session_is_asked_for_again(python: Opened) -> None:
    python.run("n = 0", call=1)
    last = python.run(ENDING, call=2)
    assert (last["stdout"], last["exit_code"], last["session"]) == ("the last\n", 3, "ended")
    assert python.run(ENDING, call=2) == last
    for wrong in (python.ask("1", call=1), python.ask("1", call=3), python.ask(ENDING)):
        assert lost_reason(wrong) == "own_end"
    assert python.ask("1", call=2).status_code == 409


@pytest.mark.slow
def test_a_call_under_way_can_be_joined_and_not_passed(python: Opened, service_url: str) -> None:
    found: list[dict[str, Any]] = []
    code = "import time\nwhile not globals().get('go'): time.sleep(0.01); go = True\n'done'"

    def call() -> None:
        with httpx.Client(base_url=service_url, timeout=600) as http:
            body = {"code": "import time; time.sleep(2); 'done'", "call": 1}
            found.append(http.post(python.path, json=body).json())

    callers = [threading.Thread(target=call) for _ in range(2)]
    for caller in callers:
        caller.start()
    until(lambda: python.http.get(python.path).json()["state"] == "running")
    busy = python.ask(code)
    assert (busy.status_code, busy.json()["error"]["type"]) == (409, "session_busy")
    for caller in callers:
        caller.join()
    assert [one["value"] for one in found] == ["'done'", "'done'"]
    assert python.run("1")["call"] == 2


@pytest.mark.slow
def test_an_opening_that_nobody_waits_for_leaves_no_session(
    small_service: httpx.Client,
) -> None:
    with pytest.raises(httpx.ReadTimeout):
        small_service.post("/v1/sessions", json={"packages": "data"}, timeout=0.05)
    until(lambda: small_service.get("/v1/sessions").json()["open"] == 0)


@pytest.mark.slow
def test_a_response_that_is_not_kept_is_not_run_again(
    python: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    big = "with open('big', 'wb') as file:\n    file.write(bytes(4 * 2**20))"
    python.run("n = 0")
    code = f"n += 1\n{big}"
    found = python.run(code, fetch=["big"], call=2)
    assert len(found["files"]["big"]) == 4 * 2**20
    assert python.run(code, fetch=["big"], call=2) == found
    assert python.run("n", call=3)["value"] == "1"


# The end of sessions


def test_an_ended_session_is_gone(http: httpx.Client) -> None:
    session = Opened(http)
    assert http.delete(session.path).json() == {
        "id": session.described["id"],
        "state": "ended",
        "calls": 0,
    }
    for response in (session.ask("1"), http.get(session.path), http.delete(session.path)):
        assert lost_reason(response) == "closed"


@pytest.mark.parametrize(
    ("limit", "reason"), [("idle_seconds", "idle_limit"), ("life_seconds", "life_limit")]
)
def test_a_session_expires(http: httpx.Client, limit: str, reason: str) -> None:
    session = Opened(http, limits={limit: 0.01})
    until(lambda: http.get(session.path).status_code == 410)
    assert lost_reason(session.ask("1")) == reason


def test_another_replica_says_so(http: httpx.Client) -> None:
    other = f"/v1/sessions/s-{'0' * 8}-{'0' * 32}"
    assert lost_reason(http.post(other, json={"code": ""})) == "other_replica"
    unknown = http.post("/v1/sessions/x", json={"code": ""})
    assert (unknown.status_code, unknown.json()["error"]["type"]) == (404, "no_session")


def test_a_session_that_is_ended_during_a_call_is_lost(python: Opened, service_url: str) -> None:
    found: list[dict[str, Any]] = []

    def call() -> None:
        with httpx.Client(base_url=service_url, timeout=600) as http:
            found.append(http.post(python.path, json={"code": "while True: pass"}).json())

    caller = threading.Thread(target=call)
    caller.start()
    until(lambda: python.http.get(python.path).json()["state"] == "running")
    python.end()
    caller.join()
    (lost,) = found
    assert (lost["outcome"], lost["reason"], lost["session"]) == ("failed", "session_lost", "ended")
    assert "stdout" not in lost


@pytest.mark.parametrize(
    "asked",
    [{"language": "cobol"}, {"limits": {"seconds": 0}}, {"files": {"/etc/x": ""}}, {"x": 1}],
)
def test_a_wrong_field_is_refused(http: httpx.Client, asked: dict[str, Any]) -> None:
    assert http.post("/v1/sessions", json=asked).status_code == 422


# A service of its own


@pytest.fixture(scope="module")
def small_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("small") / "service.log"


@pytest.fixture(scope="module")
def small_service(small_log: Path) -> Iterator[httpx.Client]:
    bounds = ("--max-sessions", "2", "--max-sessions-bytes", str(2**28))
    options = ("--workers", "1", "--code-workers", "1", *bounds)
    with (
        running_service(small_log, *options) as url,
        httpx.Client(base_url=url, timeout=600) as http,
    ):
        yield http


@pytest.mark.slow
def test_sessions_beyond_the_most_are_refused_until_one_ends(small_service: httpx.Client) -> None:
    first, second = Opened(small_service), Opened(small_service)
    full = small_service.post("/v1/sessions", json={})
    assert (full.status_code, full.json()["error"]["type"]) == (503, "sessions_full")
    assert full.headers["retry-after"] == "1"
    first.end()
    with opened(small_service) as third:
        assert third.run("1")["value"] == "1"
    second.end()


@pytest.mark.slow
def test_a_session_beyond_the_memory_of_all_is_refused_with_a_reason(
    small_service: httpx.Client,
) -> None:
    first = Opened(small_service)
    asked = {"limits": {"file_bytes": 2**28}}
    full = small_service.post("/v1/sessions", json=asked)
    assert (full.status_code, full.json()["error"]["type"]) == (503, "sessions_memory_full")
    assert full.headers["retry-after"] == "1"
    described = small_service.get("/v1/sessions").json()
    assert (described["open"], described["max_memory_bytes"]) == (1, 2**28)
    first.end()


@pytest.mark.slow
def test_a_killed_session_is_lost_and_the_service_goes_on(
    small_service: httpx.Client, small_log: Path
) -> None:
    session = Opened(small_service)
    until(lambda: len(stopped(pid_in(small_log))) == 1)
    (victim,) = stopped(pid_in(small_log))
    os.kill(victim, signal.SIGKILL)
    until(lambda: small_service.get(session.path).status_code == 410)
    assert lost_reason(session.ask("1")) == "machine"
    with opened(small_service) as next_one:
        assert next_one.run("1")["value"] == "1"


@pytest.mark.slow
def test_a_killed_nursery_is_replaced(small_service: httpx.Client, small_log: Path) -> None:
    with opened(small_service) as session:
        (nursery,) = nurseries(pid_in(small_log))
        os.kill(nursery, signal.SIGKILL)
        with opened(small_service) as other:
            assert other.run("1")["value"] == "1"
        assert session.run("2")["value"] == "2"


def nurseries(service: int) -> list[int]:
    """The processes that zygotes of sessions are forked from: the parents of zygotes."""
    return [pid for pid in tree(service) if b"sandbox.nursery" in command_of(pid)][:1]


def command_of(pid: int) -> bytes:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


@pytest.mark.slow
@pytest.mark.parametrize("kill", [signal.SIGTERM, signal.SIGKILL])
def test_sessions_end_with_the_service(tmp_path: Path, kill: signal.Signals) -> None:
    log = tmp_path / "log"
    with running_service(log, "--workers", "1", "--code-workers", "1") as url:
        service = pid_in(log)
        with httpx.Client(base_url=url, timeout=600) as http:
            Opened(http)
            Opened(http, language="bash")
        processes = tree(service)
        until(lambda: len(stopped(service)) == 2)
        os.kill(service, kill)
        until(lambda: all(state_of(pid) in ("", "Z") for pid in processes))


# Keys


@pytest.mark.slow
def test_a_session_belongs_to_the_key_that_opened_it(tmp_path: Path) -> None:
    """Two keys without names are two owners, too."""
    keys = {name: new_key() for name in ("one", "two", "forms")}
    (tmp_path / "keys.yaml").write_text(
        f"forms:\n  hash: {hash_of(keys['forms'])}\n  verifiers: [format]\n"
    )
    unnamed = ",".join(hash_of(keys[name]) for name in ("one", "two"))
    named = str(tmp_path / "keys.yaml")
    keyed = ("--api-keys-file", named, "--api-key-hashes", unnamed)
    few = ("--workers", "1", "--code-workers", "1")
    with running_service(tmp_path / "log", *few, *keyed) as url:
        one, two, forms = (
            httpx.Client(
                base_url=url, timeout=600, headers={"Authorization": f"Bearer {keys[name]}"}
            )
            for name in keys
        )
        with one, two, forms, opened(one, packages="standard") as session:
            assert session.run("x = 1")["outcome"] == "ran"
            for response in (
                two.post(session.path, json={"code": "x"}),
                two.get(session.path),
                two.delete(session.path),
            ):
                assert (response.status_code, response.json()["error"]["type"]) == (
                    404,
                    "no_session",
                )
            assert session.run("x")["value"] == "1"
            assert httpx.post(f"{url}/v1/sessions", json={}).status_code == 401
            assert one.post("/openenv/same/reset", json={}).status_code == 200
            others = two.post("/openenv/same/step", json={"action": {"code": "1"}})
            assert others.json()["error"]["type"] == "no_episode"
            refused = forms.post("/v1/sessions", json={})
            assert refused.json()["error"]["type"] == "verifier_not_enabled"
