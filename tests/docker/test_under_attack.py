"""No attack succeeds against the running container; without one of three layers, some do.

The container is the one that compose.yaml starts: an unprivileged user, Docker's default seccomp
profile, no capabilities, a read-only root. Attacks with a layer off are run in containers of their
own without a network, which are thrown away.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.attacks import harness, twins
from tests.attacks.harness import ENVIRONMENT_CANARY, SHORT_CPU_SECONDS, Observation
from tests.attacks.test_attacks import (
    ATTACKS,
    FILE_CATEGORIES,
    METADATA,
    SUCCEED_WITHOUT,
    check,
)
from tests.docker.conftest import ROOT
from tests.docker.stack import PYTHON, Stack
from verifier_service.sandbox.execution import COMMON_LAYERS, Layer, level

pytestmark = pytest.mark.docker

NUM_PROCESSES = 4
SUITE = "/tmp/suite"
REFUSED_BY_DOCKER = {"personality_aslr"}
"""Attacks that Docker's own profile refuses, too."""


def order(attacks: list[str], without: list[Layer]) -> str:
    return json.dumps(
        {
            "attacks": attacks,
            "cpu_seconds": SHORT_CPU_SECONDS,
            "scratch": FILE_CATEGORIES,
            "without": without,
        }
    )


def environment() -> list[str]:
    canary = f"{ENVIRONMENT_CANARY}=CANARY-ENV-{secrets.token_hex(16)}"
    return ["--env", f"PYTHONPATH={SUITE}", "--env", canary]


@pytest.fixture
def container(running: Stack) -> Iterator[str]:
    """A running container of the service, with the attack suite in its scratch file system."""
    container, *_ = running.containers("verifier")
    running.put(container, {"tests/__init__.py": ROOT / "tests/__init__.py"}, SUITE)
    running.put(container, {"tests/attacks": ROOT / "tests/attacks"}, SUITE)
    yield container
    running.python(container, "import shutil, sys; shutil.rmtree(sys.argv[1])", SUITE)


def observations(output: str) -> list[Observation]:
    return [Observation(**json.loads(line)) for line in output.splitlines()]


def test_every_attack_fails_in_the_running_container(
    running: Stack, container: str, http: httpx.Client
) -> None:
    command = ("exec", *environment(), container, PYTHON, "-m", harness.__name__)
    names = list(ATTACKS)
    parts = [names[first::NUM_PROCESSES] for first in range(NUM_PROCESSES)]
    with ThreadPoolExecutor(NUM_PROCESSES) as pool:
        outputs = pool.map(lambda part: running.engine.docker(*command, order(part, [])), parts)
        found = [observation for output in outputs for observation in observations(output)]
    check("unprivileged in Docker", names, found, cpu_seconds=SHORT_CPU_SECONDS)
    assert http.get("/readyz").status_code == 200


def test_no_program_is_paid_for_answers_that_it_lacks_in_the_running_container(
    running: Stack, container: str
) -> None:
    """The image has no compiler, so programs in C++ are left out there."""
    part, num_parts = 3, 16
    command = ("exec", *environment(), container, PYTHON, "-m", twins.__name__)
    output = running.engine.docker(*command, str(part), str(num_parts))
    judgements = [twins.Judgement(**json.loads(line)) for line in output.splitlines()]
    asked = twins.asked_for(twins.load_forms(), part=part, num_parts=num_parts)
    assert twins.breaches(asked, judgements, missing=("cpp",)) == []


@pytest.mark.parametrize("layer", SUCCEED_WITHOUT)
def test_without_a_layer_attacks_succeed_in_a_container(stack: Stack, layer: Layer) -> None:
    seen = {
        name: success
        for name, success in SUCCEED_WITHOUT[layer].items()
        if name not in REFUSED_BY_DOCKER
    }
    output = stack.engine.docker(
        *("run", *stack.hardened(), *environment()),
        *("--volume", f"{stack.folder}/tests:{SUITE}/tests:ro"),
        *("--entrypoint", PYTHON, stack.service_image),
        *("-m", harness.__name__, order(list(seen), [layer])),
    )
    found = observations(output)
    assert {observation.level for observation in found} == {level(COMMON_LAYERS - {layer})}
    assert {observation.attack for observation in found} == set(seen)
    assert [it for it in found if seen[it.attack] not in it.seen] == []


def test_where_user_namespaces_are_permitted_nothing_is_seen_by_stat(stack: Stack) -> None:
    output = stack.engine.docker(
        *("run", *stack.hardened(), "--security-opt", "seccomp=unconfined", *environment()),
        *("--volume", f"{stack.folder}/tests:{SUITE}/tests:ro"),
        *("--entrypoint", PYTHON, stack.service_image),
        *("-m", harness.__name__, order(sorted(METADATA), [])),
    )
    found = observations(output)
    if any("namespaces" not in observation.level for observation in found):
        pytest.skip("this machine does not let unprivileged users make namespaces")
    assert {observation.attack for observation in found} == METADATA
    assert [observation for observation in found if observation.seen] == []
