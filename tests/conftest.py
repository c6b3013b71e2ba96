"""The real service, started once as a process of its own."""

from __future__ import annotations

import atexit
import gc
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx
import hypothesis
import pytest

from tests.processes import pid_in
from trainer_client.service_process import running_service

# Its modules import Ray, which only the environment of `make test-fleet` has.
collect_ignore = [] if find_spec("ray") else ["fleet"]
# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("untimed")
TOLD_SECONDS = 0.1
"""Time that a fixture took from which on `--durations` is told of it."""
# Until all tests are collected: collections would take a third of that time, and find nothing.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from now on, but not among the modules and the tests."""
    gc.freeze()
    gc.enable()


# Extensions that count what is left at the end, as DuckDB does, find nothing. Not earlier: pytest
# collects twice when it ends, and would go through all modules and tests each time.
atexit.register(gc.unfreeze)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Spare each test of a process beside others most of what it sends.

    Of three reports of a test, two say that its fixtures began and ended well. To make, send and
    read them costs as much as the other messages of a test, which are four.
    """
    for plugin in session.config.pluginmanager.get_plugins():
        if type(plugin).__name__ == "WorkerInteractor":  # of pytest-xdist
            plugin.sendevent = partial(_send_what_tells, plugin.sendevent)


def _send_what_tells(send: Callable[..., None], name: str, **event: Any) -> None:
    """Send an event, unless it is a report that says nothing."""
    if name != "testreport" or _tells(event["data"]):
        send(name, **event)


def _tells(report: Mapping[str, Any]) -> bool:
    is_slow: bool = report["duration"] >= TOLD_SECONDS
    has_failed = report["outcome"] != "passed"
    return report["when"] == "call" or has_failed or is_slow or bool(report["sections"])


@pytest.fixture(scope="session")
def service_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The file in which the service of `service_url` writes its log."""
    return tmp_path_factory.mktemp("service") / "service.log"


@pytest.fixture(scope="session")
def service_url(service_log: Path) -> Iterator[str]:
    """The URL of a service with two workers."""
    with running_service(service_log, "--workers", "2") as url:
        yield url


@pytest.fixture(scope="session")
def service_pid(service_url: str, service_log: Path) -> int:
    """The process of that service."""
    return pid_in(service_log)


@pytest.fixture
def http(service_url: str) -> Iterator[httpx.Client]:
    """A client of that service."""
    with httpx.Client(base_url=service_url, timeout=600) as client:
        yield client
