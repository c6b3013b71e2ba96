"""The real service, started once as a process of its own."""

from __future__ import annotations

import atexit
import gc
import logging
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

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
# Until all tests are collected: collections would take a third of that time, and find nothing.
gc.disable()


def pytest_collection_finish() -> None:
    """Look for garbage from now on, but not among the modules and the tests.

    Six times for each test pytest adds its handlers to every logger that does not propagate, of
    which torch has fifty. All propagate from now on, so that the handlers of the root are enough.
    """
    gc.freeze()
    gc.enable()
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.propagate = True


@pytest.hookimpl(optionalhook=True)  # one that pytest-xdist asks
def pytest_xdist_make_scheduler(config: pytest.Config) -> object:
    """Several pytests share the tests by whole modules, where `--dist=worksteal` is given."""
    if config.getvalue("dist") != "worksteal":
        return None
    from tests.whole_modules import WholeModules  # noqa: PLC0415  pytest-xdist is not everywhere

    return WholeModules(config)


# Extensions that count what is left at the end, as DuckDB does, find nothing. Not earlier: pytest
# collects twice when it ends, and would go through all modules and tests each time.
atexit.register(gc.unfreeze)


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
