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


def test_several_gateways_have_no_sessions() -> None:
    assert FleetSettings().max_sessions == 256
    assert FleetSettings(gateways=2).max_sessions == 0
    assert FleetSettings(gateways=2, max_sessions=0).max_sessions == 0
    with pytest.raises(ValueError, match="set max_sessions to 0 or gateways to 1"):
        FleetSettings(gateways=2, max_sessions=8)
