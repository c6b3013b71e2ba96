"""The stack that `docker compose up` starts: trained against, asked, looked into, scaled."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.docker.stack import PYTHON, Stack, wait_until
from trainer_client.config.reward_sections import RewardConfig
from trainer_client.reward.verifier_client import ScoreRequest, VerifierClient

pytestmark = pytest.mark.docker

NUM_STEPS = 3
MIB = 2**20
SQUARE = "```python\nprint(int(input()) ** 2)\n```"
CASES = {"tests": {"type": "stdio", "cases": [{"stdin": "3\n", "stdout": "9\n"}]}}
STALL_SECONDS = 5.0
SLOW = "```python\nimport time\ntime.sleep(2.5)\nprint(int(input()) ** 2)\n```"
# An address that nobody answers for can end a `connect` with success: the error that Linux tells
# the socket is gone when Python asks for it. Only a connected socket has a peer.
CONNECT = """
import socket, sys
for address in sys.argv[1:]:
    host, port = address.rsplit(":", 1)
    try:
        with socket.create_connection((host, int(port)), timeout=2) as connection:
            connection.getpeername()
        print("reached", address)
    except OSError as error:
        print("refused", address, error)
"""
METRICS = """
import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:8080/metrics").read().decode())
"""
FACTS = """
import os, json
status = dict(line.rstrip().split(":", 1) for line in open("/proc/self/status"))
def refused(path):
    try:
        open(path, "w").close()
    except OSError as error:
        return os.strerror(error.errno)
    return "written"
print(json.dumps({
    "uids": status["Uid"].split(), "gids": status["Gid"].split(),
    "groups": status["Groups"].split(),
    "capabilities": [status[name].strip() for name in ("CapPrm", "CapEff", "CapBnd", "CapAmb")],
    "no_new_privs": status["NoNewPrivs"].strip(), "seccomp": status["Seccomp"].strip(),
    "writing": {path: refused(path) for path in (
        "/written", "/opt/verifier/written", "/etc/written", "/usr/written", "/tmp/written")},
}))
"""


def score(http: httpx.Client, **request: Any) -> dict[str, Any]:
    response = http.post("/v1/score", json=request)
    response.raise_for_status()
    answer: dict[str, Any] = response.json()
    return answer


def verdicts(answer: dict[str, Any], verifier: str) -> list[tuple[str, float | None, str]]:
    return [
        (verdict["outcome"], verdict["score"], verdict["reason"])
        for group in answer["groups"]
        for completion in group["completions"]
        for name, verdict in completion["verdicts"].items()
        if name == verifier
    ]


# What one command starts


def test_the_service_is_ready_before_the_training_begins(running: Stack) -> None:
    times = {
        name: running.engine.inspect(running.container(name))["State"]
        for name in ("verifier", "api", "trainer")
    }
    assert times["verifier"]["Health"]["Status"] == "healthy"
    assert times["api"]["Health"]["Status"] == "healthy"
    started = [times[name]["StartedAt"] for name in ("verifier", "api", "trainer")]
    assert started == sorted(started)


def test_the_demonstration_trains_and_its_metrics_are_in_the_volume(running: Stack) -> None:
    container = running.container("trainer")
    mount = ("--volume", f"{running.name}_runs:/runs:ro", "--network", "none")
    show = (running.settings["BASE_IMAGE"], "cat", "/runs/demo/grpo/metrics.jsonl")
    read = ("run", "--rm", *mount, *show)

    def metrics() -> list[dict[str, Any]]:
        output = running.engine.docker(*read, check=False)
        complete = [line for line in output.splitlines(keepends=True) if line.endswith("}\n")]
        return [json.loads(line) for line in complete if line.startswith("{")]

    def has_trained() -> bool:
        state = running.engine.inspect(container)["State"]
        logs = "" if state["Running"] else running.engine.docker("logs", container)
        assert state["Running"], logs[-3000:]
        return len(steps(metrics())) >= NUM_STEPS

    try:
        wait_until(has_trained, f"{NUM_STEPS} steps of the demonstration", seconds=400)
    except AssertionError as error:
        raise AssertionError(running.engine.docker("logs", container)[-3000:]) from error
    running.compose("stop", "trainer")
    first = steps(metrics())[:NUM_STEPS]
    assert len(first) == NUM_STEPS
    for line in first:
        assert 0.0 < line["reward/accuracy"] < 1.0
        assert line["verifier/unverifiable_fraction"] == 0.0
    log = running.engine.docker("logs", running.container("api"))
    assert log.count("POST /v1/score 200") >= NUM_STEPS


def steps(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if "reward/accuracy" in line]


def test_the_demonstration_can_be_repeated(running: Stack) -> None:
    command = running.engine.inspect(running.container("trainer"))["Config"]
    assert "--replace" in command["Cmd"]
    run = (
        "run",
        "--rm",
        "--no-deps",
        "trainer",
        "demo",
        "--output",
        "/runs/demo",
        "--url",
        "http://x",
    )
    refused = running.compose(*run, check=False)
    assert "--replace" in refused  # else the second `up` would fail so


# Scoring through the published port


def test_real_completions_are_scored_through_the_published_port(http: httpx.Client) -> None:
    answer = score(
        http,
        verifiers=[{"type": "accuracy"}],
        groups=[
            {
                "reference": {"answer": "1/2"},
                "completions": ["So it is $\\boxed{\\frac12}$.", "0.25", "\\boxed{\\frac{2}{4}}"],
            }
        ],
    )
    assert verdicts(answer, "accuracy") == [
        ("scored", 1.0, "equal"),
        ("scored", 0.0, "different"),
        ("scored", 1.0, "equal"),
    ]


def test_a_large_request_is_judged_in_a_process_of_its_own(http: httpx.Client) -> None:
    thought = "I think. " * (MIB // 9)
    answer = score(
        http,
        verifiers=[{"type": "accuracy"}],
        groups=[
            {
                "reference": {"answer": "1/2"},
                "completions": [thought + r"\boxed{0.5}", thought + r"\boxed{5}"],
            }
        ],
    )
    assert verdicts(answer, "accuracy") == [("scored", 1.0, "equal"), ("scored", 0.0, "different")]


def test_programs_are_judged_in_the_container(http: httpx.Client) -> None:
    programs = [
        SQUARE,
        "```python\nprint(8)\n```",
        "```python\nimport numpy\nprint(numpy.int64(input()) ** 2)\n```",
        "```python\nimport sympy\nprint(sympy.Integer(input()) ** 2)\n```",
    ]
    answer = score(
        http,
        verifiers=[{"type": "code"}],
        groups=[{"reference": CASES, "completions": programs}],
    )
    assert verdicts(answer, "code") == [
        ("scored", 1.0, "passed"),
        ("scored", 0.0, "wrong_answer"),
        ("scored", 1.0, "passed"),
        ("scored", 1.0, "passed"),
    ]


def test_a_program_in_cpp_says_what_the_image_lacks(http: httpx.Client) -> None:
    program = "```cpp\nint main() {}\n```"
    answer = score(
        http,
        verifiers=[{"type": "code", "language": "cpp"}],
        groups=[{"reference": CASES, "completions": [program]}],
    )
    assert verdicts(answer, "code") == [("unverifiable", None, "missing_toolchain")]


def test_the_port_is_published_on_localhost_only(running: Stack) -> None:
    host = running.engine.inspect(running.container("api"))["HostConfig"]
    published = host["PortBindings"]
    port = running.settings["API_PORT"]
    assert published == {"8080/tcp": [{"HostIp": "127.0.0.1", "HostPort": port}]}
    for service in ("verifier", "trainer"):
        others = running.engine.inspect(running.container(service))["HostConfig"]
        assert not others["PortBindings"]


def test_the_proxy_is_asked_by_its_name_and_no_page_under_its_own(http: httpx.Client) -> None:
    for host, status in (("api:8080", 200), ("localhost", 200), ("evil.example", 421)):
        assert http.get("/v1/verifiers", headers={"Host": host}).status_code == status


def test_a_body_over_the_limit_is_refused_in_the_words_of_the_service(http: httpx.Client) -> None:
    json = {"Content-Type": "application/json"}
    response = http.post("/v1/score", content=b" " * (65 * MIB), headers=json)
    assert response.status_code == 413
    assert response.json()["error"]["type"] == "body_too_large"


def test_the_page_comes_through_the_proxy_with_its_policy(http: httpx.Client) -> None:
    page = http.get("/", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "playground" in page.text.lower()
    assert http.get("/", headers={"Accept": "application/json"}).json()["ready"] is True
    explained = score(
        http,
        verifiers=[{"type": "accuracy"}],
        groups=[{"reference": {"answer": "4"}, "completions": ["It is \\boxed{4}."]}],
        explain=True,
    )
    first = explained["groups"][0]["completions"][0]["verdicts"]["accuracy"]
    assert first["explanation"]


def test_verdicts_are_streamed_through_the_proxy_as_they_come(http: httpx.Client) -> None:
    """The slow group ends after the first line is here, else the proxy would keep lines back."""
    request = {
        "verifiers": [{"type": "code"}],
        "groups": [
            {"reference": CASES, "completions": [SQUARE]},
            {"reference": CASES, "completions": [SLOW]},
        ],
    }
    headers = {"Accept": "application/x-ndjson"}
    with http.stream("POST", "/v1/score", json=request, headers=headers) as response:
        arrivals = [(time.monotonic(), json.loads(line)) for line in response.iter_lines()]
    groups = [(when, line) for when, line in arrivals if "completions" in line]
    assert len(groups) == 2
    assert groups[1][0] - groups[0][0] > 0.2  # lines that are kept back come together


# What confines the container


def test_the_service_has_no_rights_and_a_read_only_root(running: Stack) -> None:
    container, *_ = running.containers("verifier")
    facts = json.loads(running.python(container, FACTS))
    assert set(facts["uids"]) == set(facts["gids"]) == {"10001"}
    assert set(facts["groups"]) <= {"10001"}
    assert set(facts["capabilities"]) == {"0000000000000000"}
    assert facts["no_new_privs"] == "1"
    assert facts["seccomp"] == "2"  # Docker's filter
    read_only = "Read-only file system"
    assert facts["writing"] == {
        "/written": read_only,
        "/opt/verifier/written": read_only,
        "/etc/written": read_only,
        "/usr/written": read_only,
        "/tmp/written": "written",
    }


@pytest.mark.parametrize("service", ["verifier", "api", "trainer"])
def test_every_container_is_limited(running: Stack, service: str) -> None:
    host: Any = running.engine.inspect(running.container(service))["HostConfig"]
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert "no-new-privileges:true" in host["SecurityOpt"]
    assert host["Init"] is True
    assert 0 < host["Memory"] <= 6 * 2**30
    assert 0 < host["NanoCpus"] <= 2 * 10**9
    assert 0 < host["PidsLimit"] <= 2048
    user = running.engine.inspect(running.container(service))["Config"]["User"]
    assert user == "10001:10001"


def test_the_doctor_of_the_running_container_is_content(running: Stack) -> None:
    container, *_ = running.containers("verifier")
    found = running.engine.docker("exec", container, "/opt/verifier/bin/verifier-service", "doctor")
    assert "layers: rlimits+capabilities+no_new_privs+landlock+seccomp\n" in found
    assert " checks, 0 failed\n" in found


# The network


@contextmanager
def listener() -> Iterator[tuple[int, list[str]]]:
    """A port of this machine on all of its addresses, and who has connected to it."""
    visitors: list[str] = []
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]

        def accept() -> None:
            while True:
                try:
                    connection, (host, _) = server.accept()
                except OSError:
                    return
                visitors.append(host)
                connection.close()

        thread = threading.Thread(target=accept)
        thread.start()
        try:
            yield port, visitors
        finally:
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


@contextmanager
def neighbour(stack: Stack, port: int) -> Iterator[str]:
    """A listening container in another network of this machine; its address."""
    network, name = f"{stack.name}-elsewhere", f"{stack.name}-neighbour"
    stack.engine.docker("network", "create", network)
    try:
        code = (
            f"import socket, time; s = socket.create_server(('0.0.0.0', {port})); time.sleep(600)"
        )
        run = ("run", "--detach", "--rm", "--init", "--name", name, "--network", network)
        stack.engine.docker(*run, "--entrypoint", PYTHON, stack.service_image, "-c", code)
        found: Any = stack.engine.inspect(name)
        yield found["NetworkSettings"]["Networks"][network]["IPAddress"]
    finally:
        stack.engine.docker("rm", "--force", name, check=False)
        stack.engine.docker("network", "rm", network)


def addresses_of_this_machine() -> list[str]:
    """The addresses of its interfaces, bridges of containers included."""
    found = Path("/proc/net/fib_trie").read_text()
    local = re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", found)
    return sorted({address for address in local if not address.startswith("127.")})


def test_neither_the_service_nor_a_program_reaches_another_network(
    running: Stack, http: httpx.Client
) -> None:
    service, *_ = running.containers("verifier")
    with listener() as (port, visitors), neighbour(running, 7000) as other:
        here = addresses_of_this_machine()
        assert here
        targets = [*(f"{address}:{port}" for address in here), f"{other}:7000"]

        # Whoever has a way out does get there, so that the addresses are known to be right.
        outside = ("run", "--rm", "--entrypoint", PYTHON, running.service_image, "-c", CONNECT)
        reached = running.engine.docker(*outside, *targets[:-1])
        assert [line.split()[0] for line in reached.splitlines()] == ["reached"] * len(here)
        beside = ("run", "--rm", "--network", f"{running.name}-elsewhere", *outside[2:])
        assert running.engine.docker(*beside, targets[-1]).startswith("reached")
        wait_until(lambda: len(visitors) == len(here), "the visits to be counted")

        found = running.python(service, CONNECT, *targets).splitlines()
        assert len(found) == len(targets)
        assert all(line.startswith("refused") for line in found), found

        source = CONNECT.replace("sys.argv[1:]", repr(targets))
        program = f"```python\n{source}\n```"
        answer = score(
            http,
            verifiers=[{"type": "code"}],
            groups=[
                {
                    "reference": {
                        "tests": {"type": "stdio", "cases": [{"stdin": "", "stdout": ""}]}
                    },
                    "completions": [program],
                }
            ],
        )
        ((outcome, _, reason),) = verdicts(answer, "code")
        assert (outcome, reason) == ("scored", "wrong_answer")
        first = answer["groups"][0]["completions"][0]["verdicts"]["code"]
        assert "reached" not in json.dumps(first)
        assert len(visitors) == len(here)


def test_nobody_is_at_the_gateway_and_there_is_no_name_server(running: Stack) -> None:
    service, *_ = running.containers("verifier")
    (network,) = running.engine.inspect(service)["NetworkSettings"]["Networks"].values()
    assert network["Gateway"] not in addresses_of_this_machine()
    assert running.engine.inspect(service)["HostConfig"]["Dns"] == ["127.0.0.1"]
    ipv6 = running.python(service, "print(open('/proc/net/if_inet6').read())").split()
    assert ipv6[5::6] in ([], ["lo"])


def test_only_the_proxy_is_in_both_networks(running: Stack) -> None:
    networks = {}
    for service in ("verifier", "api", "trainer"):
        found: Any = running.engine.inspect(running.container(service))
        names = found["NetworkSettings"]["Networks"]
        networks[service] = {name.removeprefix(f"{running.name}_") for name in names}
    assert networks == {"verifier": {"judges"}, "api": {"judges", "edge"}, "trainer": {"edge"}}


# Settings and keys


def test_api_keys_come_from_the_environment_or_a_mounted_file(
    running: Stack, http: httpx.Client
) -> None:
    service, *_ = running.containers("verifier")
    made = running.engine.docker("exec", service, "/opt/verifier/bin/verifier-service", "new-key")
    key, digest = (line.split()[1] for line in made.splitlines())
    file = running.folder / "docker" / "api-key-hashes"
    before = file.read_text()
    for in_file, in_environment in ((digest, ""), ("", digest)):
        file.write_text(f"{before}{in_file}\n")
        up = ("up", "--detach", "--no-build", "--force-recreate", "--no-deps", "verifier")
        running.compose(*up, VERIFIER_API_KEY_HASHES=in_environment)
        wait_until(lambda: is_ready(http), "the service to be ready again")
        assert http.get("/v1/verifiers").status_code == 401
        headers = {"Authorization": f"Bearer {key}"}
        assert http.get("/v1/verifiers", headers=headers).status_code == 200
    file.write_text(before)
    running.compose("up", "--detach", "--no-build", "--force-recreate", "--no-deps", "verifier")
    wait_until(lambda: is_ready(http), "the service to be ready again")


def is_ready(http: httpx.Client) -> bool:
    return http.get("/readyz").status_code == 200


# Replicas


@pytest.fixture
def replicas(running: Stack, http: httpx.Client) -> Iterator[list[str]]:
    """Three ready containers of the service."""
    scale = ("up", "--detach", "--no-build", "--no-deps", "--no-recreate", "--scale")
    running.compose(*scale, "verifier=3", "verifier")
    wait_until(lambda: len(healthy(running)) == 3, "three healthy replicas")
    since = num_log_lines(running)

    def each_has_answered() -> bool:
        """Whether the proxy knows all of them: it asks for itself which are ready, and later."""
        http.post("/v1/score", json=ONE_ANSWER)
        return len(answered_by(running, since)) == 3

    wait_until(each_has_answered, "three replicas behind the proxy")
    yield healthy(running)
    running.compose(*scale, "verifier=1", "verifier")
    wait_until(lambda: len(healthy(running)) == 1, "one healthy replica")


def healthy(stack: Stack) -> list[str]:
    states: dict[str, Any] = {
        container: stack.engine.inspect(container)["State"]
        for container in stack.containers("verifier")
    }
    return [name for name, state in states.items() if state["Health"]["Status"] == "healthy"]


ONE_ANSWER = {
    "verifiers": [{"type": "exact_match"}],
    "groups": [{"reference": {"answer": "1"}, "completions": ["1"]}],
}


def num_log_lines(stack: Stack) -> int:
    return len(stack.engine.docker("logs", stack.container("api")).splitlines())


def answered_by(stack: Stack, since: int) -> Counter[str]:
    """How many requests for scores each address has answered, from a line of the log on."""
    log = stack.engine.docker("logs", stack.container("api")).splitlines()[since:]
    found = (re.search(r"POST /v1/score 200 from=([\d.]+):8080 ", line) for line in log)
    return Counter(match[1] for match in found if match)


def test_requests_spread_and_none_is_lost_when_a_replica_is_killed(
    running: Stack, replicas: list[str]
) -> None:
    since = num_log_lines(running)
    config = RewardConfig.model_validate(
        {"url": running.url, "verifiers": [{"type": "code", "weight": 1.0}], "max_attempts": 8}
    )

    async def ask() -> list[Any]:
        async with VerifierClient(config) as client:
            programs = [SLOW.replace("sleep(2.5)", f"sleep({1 + n / 100})") for n in range(24)]
            asked = [
                asyncio.create_task(
                    client.score(ScoreRequest(reference=CASES, completions=(program,)))
                )
                for program in programs
            ]
            spread = lambda: len(answered_by(running, since)) == 3  # noqa: E731
            await asyncio.to_thread(wait_until, spread, "an answer of each replica")
            await asyncio.to_thread(running.engine.docker, "kill", replicas[0])
            return await asyncio.gather(*asked)

    answers = asyncio.run(ask())
    found = Counter(
        (verdict.outcome, verdict.score)
        for answer in answers
        for one in answer
        for verdict in one.values()
    )
    assert found == {("scored", 1.0): 24}
    assert len(answered_by(running, since)) == 3
    assert len(healthy(running)) == 2


def test_a_replica_that_dies_loses_no_request_of_a_client_that_does_not_retry(
    running: Stack, replicas: list[str]
) -> None:
    """Its body fills most of a buffer of the proxy."""
    since = num_log_lines(running)
    text = f"{'x' * 100_000}\n{SLOW}"

    def ask(number: int) -> tuple[int, Any]:
        program = text.replace("sleep(2.5)", f"sleep({2.5 + number / 100})")
        groups = [{"reference": CASES, "completions": [program]}]
        body = {"verifiers": [{"type": "code"}], "groups": groups}
        response = httpx.post(f"{running.url}/v1/score", json=body, timeout=600)
        return response.status_code, response.json()

    victim, *_ = replicas
    busy = re.compile(r"^verifier_workers_busy\{kind=.code.\} [1-9]", re.M)
    with ThreadPoolExecutor(6) as pool:
        asked = [pool.submit(ask, number) for number in range(6)]
        wait_until(lambda: busy.search(running.python(victim, METRICS)), "work for the victim")
        running.engine.docker("kill", victim)
        answers = [one.result() for one in asked]
    assert [status for status, _ in answers] == [200] * 6
    found = [verdicts(answer, "code") for _, answer in answers]
    assert found == [[("scored", 1.0, "passed")]] * 6
    log = running.engine.docker("logs", running.container("api")).splitlines()[since:]
    assert any("POST /v1/score 200" in line and "retries=+" in line for line in log)


def test_a_replica_that_stalls_is_not_taken_for_a_dead_one(
    running: Stack, http: httpx.Client
) -> None:
    """It is paused for more than two checks of the proxy, and is the only one."""
    (container,) = running.containers("verifier")
    since, answers = num_log_lines(running), []
    running.engine.docker("pause", container)
    try:
        time.sleep(STALL_SECONDS)
        asking = threading.Thread(target=lambda: answers.append(score(http, **ONE_ANSWER)))
        asking.start()
    finally:
        running.engine.docker("unpause", container)
    asking.join()
    assert verdicts(answers[0], "exact_match") == [("scored", 1.0, "equal")]
    log = running.engine.docker("logs", running.container("api")).splitlines()[since:]
    assert [line for line in log if "is DOWN" in line] == []


def test_sigterm_lets_a_replica_finish_what_it_has_accepted(running: Stack) -> None:
    container, *_ = running.containers("verifier")
    with httpx.Client(base_url=running.url, timeout=600) as http:
        answers: list[dict[str, Any]] = []
        request = {
            "verifiers": [{"type": "code"}],
            "groups": [{"reference": CASES, "completions": [SLOW]}],
        }
        under_way = re.compile(r"^verifier_workers_busy\{kind=.code.\} 1", re.M)
        asking = threading.Thread(target=lambda: answers.append(score(http, **request)))
        asking.start()
        wait_until(lambda: under_way.search(running.python(container, METRICS)), "the request")
        running.compose("stop", "verifier")
        asking.join()
    assert verdicts(answers[0], "code") == [("scored", 1.0, "passed")]
    state: Any = running.engine.inspect(container)["State"]
    assert state["ExitCode"] in (0, 143), "it was killed, not drained"
    assert state["OOMKilled"] is False
    running.compose("start", "verifier")
    wait_until(lambda: len(healthy(running)) == 1, "the replica to be back")


def test_without_a_replica_the_answer_says_to_try_again(running: Stack, http: httpx.Client) -> None:
    running.compose("stop", "verifier")
    response = http.get("/readyz")
    assert response.status_code == 503
    assert response.headers["Retry-After"] == "1"
    assert response.json()["error"]["type"] == "unavailable"
    running.compose("start", "verifier")
    wait_until(lambda: is_ready(http), "the replica to be found again")
