"""`verifier-service fleet` where Ray is missing, as it is in the environment of `make test`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from verifier_service.fleet.settings import FleetSettings


def test_without_ray_the_command_says_what_to_install() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "verifier_service", "fleet"], capture_output=True, text=True
    )
    assert result.returncode == 2
    assert result.stderr == "Ray is missing: pip install 'reward-verifier[service,ray]'\n"


@pytest.mark.slow
def test_a_wrong_number_of_judges_ends_with_its_name() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "verifier_service", "fleet", "--judges", "0"],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    assert result.stderr.startswith("--judges / VERIFIER_JUDGES: ")


def test_sessions_are_those_of_session_hosts() -> None:
    assert FleetSettings().num_session_hosts == 1
    several = FleetSettings(
        gateways=2, session_hosts=3, store="verdicts", judge_url="http://a:1", judge_model="m"
    )
    assert several.num_session_hosts == 3
    assert several.of_gateways.max_sessions == 0
    assert several.of_session_hosts.max_sessions == 256
    assert several.of_session_hosts.store is None
    assert several.of_session_hosts.judge_url == ()
    assert FleetSettings(session_hosts=3, max_sessions=0).num_session_hosts == 0
    assert FleetSettings(session_hosts=3, enabled=("accuracy",)).num_session_hosts == 0
