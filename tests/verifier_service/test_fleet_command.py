"""`verifier-service fleet` where Ray is missing, as it is in the environment of `make test`."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from verifier_service.fleet.settings import FleetSettings


@pytest.mark.slow
def test_without_ray_the_command_says_what_to_install() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "verifier_service", "fleet"], capture_output=True, text=True
    )
    assert result.returncode == 2
    assert result.stderr == (
        "Ray is missing: pip install 'reward-verifier[service,ray]', or '.[service,ray]' in a "
        "clone\n"
    )


def refused(*flags: str, **variables: str) -> str:
    """The complaint of the command about wrong settings."""
    result = subprocess.run(
        [sys.executable, "-m", "verifier_service", "fleet", *flags],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 2
    return result.stderr


@pytest.mark.slow
def test_a_wrong_setting_ends_with_its_name() -> None:
    assert refused("--judges", "0").startswith("--judges / VERIFIER_JUDGES: ")
    assert refused("--max-judges", "1", "--judges", "2") == (
        "--max-judges / VERIFIER_MAX_JUDGES: expected at least as many as `judges`, 2 (found '1')\n"
    )
    assert refused("--judges", "9").startswith("--max-judges / VERIFIER_MAX_JUDGES: ")
    assert refused(VERIFIER_MAX_JUDGE="2") == (
        "VERIFIER_MAX_JUDGE is no setting of the service: did you mean VERIFIER_MAX_JUDGES?\n"
    )


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
