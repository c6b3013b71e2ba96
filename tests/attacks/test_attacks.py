"""No attack succeeds, in any deployment; and each of three layers is what stops some of them.

All attacks are run by `harness` in processes of their own: those of the service that it stands in
for. The quick tests run a ninth of them, in three deployments, each attack in one. The slow ones
run all of them in all four: in one with the verifier's own limits, in the others with less CPU time
per run. Runs with a scratch directory, and programs that only the limit of time ends, have less of
it everywhere.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.attacks.corpus import CATEGORIES, load
from tests.attacks.harness import (
    ENVIRONMENT_CANARY,
    HARMLESS,
    SHORT_CPU_SECONDS,
    Observation,
    Order,
    World,
    descendants,
    main,
)
from tests.sandbox.deployments import LAYERS, ROOT, run_python, skip_unless_possible
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, level
from verifier_service.verifiers.code import Code

ATTACKS = {attack.name: attack for attack in load()}
OWN_CPU_SECONDS = Code().cpu_seconds
CPU_SECONDS = {deployment: SHORT_CPU_SECONDS for deployment in LAYERS} | {
    "unprivileged in Docker": OWN_CPU_SECONDS
}
"""The verifier's own limits where compose.yaml runs it."""
ENDLESS = [name for name, attack in ATTACKS.items() if attack.expected == {"time_limit_exceeded"}]
"""Attacks that only the limit of time ends: its height proves nothing. One that may also give an
answer could need the time to find it."""
FILE_CATEGORIES = ("filesystem", "persistence", "cross-execution", "crash")
METADATA = {"stat_service_files", "existence_oracles"}
"""Attacks that succeed without a private root, the only ones: `stat` shows metadata of files."""
SUCCEED_WITHOUT = {
    Layer.RLIMITS: {"prlimit_raise_own": "marker", "fd_exhaustion": "marker"},
    Layer.LANDLOCK: {
        "read_service_secret_file": "canary:FILE",
        "read_secret_c_library": "canary:FILE",
        "list_service_dir": "marker",
        "write_outside_scratch": "file",
    },
    Layer.SECCOMP: {
        "udp_dns_exfil": "net:udp",
        "unix_datagram": "net:unix",
        "chmod_service_file": "modechanged",
        "utime_service_file": "modechanged",
        "fork_and_outlive": "proc_alive",
        "sysv_shm_leak": "sysv",
        "lock_shared_file": "marker",
        "evict_library_pages": "marker",
        "out_of_band_data": "marker",
        "packets_on_stdout": "marker",
        "personality_aslr": "marker",
    },
}
"""Attacks that each of these layers alone stops, and the success that is seen without it."""


def observe(
    deployment: str, *, attacks: list[str], num_processes: int = 1, **order: object
) -> list[Observation]:
    """Run the harness in a deployment until all attacks were tried.

    Each process first runs every honest program once, which takes four seconds of CPU time.
    """
    parts = [attacks[first::num_processes] for first in range(num_processes)]
    with ThreadPoolExecutor(num_processes) as pool:
        results = pool.map(lambda part: run_harness(deployment, {**order, "attacks": part}), parts)
        return [observation for result in results for observation in result]


def run_harness(deployment: str, order: dict[str, object]) -> list[Observation]:
    canary = {ENVIRONMENT_CANARY: f"CANARY-ENV-{secrets.token_hex(16)}"}
    arguments = ("-m", main.__module__, json.dumps(order))
    result = run_python(deployment, *arguments, environment=canary)
    assert result.returncode == 0, result.stderr[-3000:]
    return [Observation(**json.loads(line)) for line in result.stdout.splitlines()]


def allowed_reasons(observation: Observation, cpu_seconds: float) -> frozenset[str]:
    """The reasons in the header of an attack, and the end by CPU time where that may come first.

    A program that fills its memory or floods its output needs CPU time for that, more of it on a
    slow or busy machine. With less CPU time than the verifier gives, either limit may end it.
    """
    expected = ATTACKS[observation.attack].expected
    meets_a_limit = expected & {"memory_limit_exceeded", "output_limit_exceeded"}
    if meets_a_limit and (cpu_seconds < OWN_CPU_SECONDS or observation.way == "scratch"):
        return expected | {"time_limit_exceeded"}
    return expected


def check(
    deployment: str, attacks: list[str], observations: list[Observation], *, cpu_seconds: float
) -> None:
    """Every attack was tried, none succeeded, and each got a verdict that its header allows."""
    assert {observation.attack for observation in observations} == set(attacks)
    assert {observation.level for observation in observations} == {level(LAYERS[deployment])}
    known = METADATA & set(attacks) if deployment.endswith("Docker") else set()
    succeeded = {observation.attack for observation in observations if observation.seen}
    surprises = [
        observation
        for observation in observations
        if (observation.seen and observation.attack not in known)
        or observation.reason not in allowed_reasons(observation, cpu_seconds)
    ]
    assert surprises == []
    assert succeeded == known


@pytest.mark.quick
@pytest.mark.parametrize("part", range(3), ids=list(LAYERS)[:3])
def test_a_few_of_the_attacks_fail(part: int) -> None:
    deployment = list(LAYERS)[part]
    skip_unless_possible(deployment)
    attacks = list(ATTACKS)[part::27]
    found = observe(
        deployment, attacks=attacks, cpu_seconds=SHORT_CPU_SECONDS, scratch=FILE_CATEGORIES
    )
    check(deployment, attacks, found, cpu_seconds=SHORT_CPU_SECONDS)


@pytest.mark.slow
@pytest.mark.parametrize("deployment", LAYERS)
def test_every_attack_fails(deployment: str) -> None:
    skip_unless_possible(deployment)
    attacks = list(ATTACKS)
    cpu_seconds = CPU_SECONDS[deployment]
    found = observe(
        deployment,
        attacks=attacks,
        num_processes=2,
        cpu_seconds=cpu_seconds,
        scratch=CATEGORIES,
        short=ENDLESS,
    )
    check(deployment, attacks, found, cpu_seconds=cpu_seconds)


@pytest.mark.slow
@pytest.mark.parametrize(("layer", "seen"), SUCCEED_WITHOUT.items())
def test_without_a_layer_attacks_succeed(layer: Layer, seen: dict[str, str]) -> None:
    found = observe(
        "unprivileged in Docker",
        attacks=list(seen),
        cpu_seconds=SHORT_CPU_SECONDS,
        scratch=(),
        without=[layer],
    )
    assert {observation.level for observation in found} == {level(COMMON_LAYERS - {layer})}
    assert {observation.attack: seen[observation.attack] for observation in found} == seen
    missed = {it.attack: it for it in found if seen[it.attack] not in it.seen}
    assert missed == {}


def test_harmful_attacks_are_not_run_without_a_layer() -> None:
    assert set(ATTACKS) >= HARMLESS
    with pytest.raises(AssertionError, match="only the harmless attacks may be run"):
        observe(
            "unprivileged in Docker",
            attacks=["fork_bomb"],
            cpu_seconds=SHORT_CPU_SECONDS,
            scratch=(),
            without=[Layer.SECCOMP],
        )


def test_an_order_names_its_attacks_and_its_layers() -> None:
    order = Order(attacks=["eq_object"], cpu_seconds=1.0, scratch=[])
    assert order.without == []


# The harness sees what it should


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[World]:
    monkeypatch.setenv(ENVIRONMENT_CANARY, "canary")
    with World(tmp_path) as planted:
        planted.remember()
        yield planted


def test_the_harness_sees_no_change_where_there_is_none(world: World) -> None:
    Path(world.fill_in("{OUTSIDE_DIR}/watched.txt")).read_text()
    assert list(world.changes("marker")) == []


@pytest.mark.parametrize(
    ("family", "kind", "address", "seen"),
    [
        (socket.AF_INET, socket.SOCK_STREAM, "{TCP_PORT}", "net:tcp"),
        (socket.AF_INET, socket.SOCK_DGRAM, "{UDP_PORT}", "net:udp"),
        (socket.AF_UNIX, socket.SOCK_STREAM, "{UNIX_SOCKET}", "net:unix"),
        (socket.AF_UNIX, socket.SOCK_STREAM, "\0{UNIX_SOCKET}", "net:unix"),
        (socket.AF_UNIX, socket.SOCK_DGRAM, "{UNIX_SOCKET}.dgram", "net:unix"),
    ],
)
def test_the_harness_sees_packets(
    world: World, family: int, kind: int, address: str, seen: str
) -> None:
    filled = world.fill_in(address)
    with socket.socket(family, kind) as channel:
        channel.connect(("127.0.0.1", int(filled)) if family == socket.AF_INET else filled)
        channel.send(b"stolen")
        assert list(world.changes("marker")) == [seen]


@pytest.mark.parametrize("change", ["chmod 600 {}", "touch {}", "rm {}", "ln {} {}2", "echo >>{}"])
def test_the_harness_sees_changes_of_a_file(world: World, change: str) -> None:
    path = world.fill_in("{OUTSIDE_DIR}/watched.txt")
    subprocess.run(change.replace("{}", path), shell=True, check=True)
    assert "modechanged" in list(world.changes("marker"))


def test_the_harness_sees_new_files_and_removes_them(world: World) -> None:
    new = Path(world.fill_in("{OUTSIDE_DIR}/pwn"))
    new.touch()
    assert list(world.changes("file:{OUTSIDE_DIR}/pwn*")) == ["file"]
    assert not new.exists()


@pytest.mark.parametrize("signal", ["KILL", "STOP"])
def test_the_harness_sees_that_the_service_is_dead_or_stopped(world: World, signal: str) -> None:
    pid = world.fill_in("{PARENT_PID}")
    subprocess.run(["kill", f"-{signal}", pid], check=True)
    assert list(world.changes("marker")) == ["service_dead"]
    world.remember()
    assert world.fill_in("{PARENT_PID}") != pid


def test_the_harness_finds_processes_below_it() -> None:
    command = ["sh", "-c", "sleep 60 & echo $!; wait"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as shell:
        assert shell.stdout is not None
        pid = int(shell.stdout.readline())
        assert {process.pid for process in descendants(os.getpid())} >= {shell.pid, pid}
        assert {process.pid for process in descendants(shell.pid)} == {shell.pid, pid}
        with contextlib.ExitStack() as stack:
            for process in (pid, shell.pid):
                stack.callback(os.kill, process, 9)


# The table of docs/security.md


def test_the_table_of_the_documentation_counts_the_programs() -> None:
    text = (ROOT / "docs" / "security.md").read_text()
    rows = re.findall(r"^\| ([a-z-]+) \| (\d+) \| \d+ \| \d+ \| \d+ \| \d+ \|$", text, re.M)
    counts = Counter(attack.category for attack in ATTACKS.values())
    assert {name: int(number) for name, number in rows} == dict(counts)
