"""A verifier service as a process on this machine, for demonstration, tests and benchmarks."""

from __future__ import annotations

import ctypes
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trainer_client.errors import TrainerError

START_SECONDS = 120.0
"""Time for the service to start listening."""
PR_SET_PDEATHSIG = 1
"""See prctl(2)."""
_LIBC = ctypes.CDLL(None)
# The message of a service that listens: `running on http://127.0.0.1:8080 (CTRL+C ends it)`.
URL_IN_LOG = re.compile(r"running on (http://\S+)")
STOP_SECONDS = 30.0
"""Time for the service to end after SIGTERM; longer than its `VERIFIER_DRAIN_SECONDS`."""


class ServiceStartError(TrainerError):
    """The service did not start; the message holds its output."""


@contextmanager
def running_service(log: Path, *flags: str, python: str = sys.executable) -> Iterator[str]:
    """Run a verifier service on a free port, give its URL, and stop it at the end.

    Args:
        log: file for the output of the service.
        flags: more flags of `verifier-service serve`.
        python: an interpreter that has the service installed.

    Raises:
        ServiceStartError: the service ends at once, or does not listen in time.
    """
    with log.open("w") as output:
        process = subprocess.Popen(
            [python, "-m", "verifier_service", "serve", "--port", "0", *flags],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Ctrl-C goes to all processes of a terminal: the run that it stops needs the service
            # until the step under way has ended.
            process_group=0,
            preexec_fn=end_with_parent,
        )
    try:
        yield _wait_for_url(process, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def end_with_parent() -> None:
    """Have the kernel end this process with its parent, which a second Ctrl-C leaves no time to."""
    _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _wait_for_url(process: subprocess.Popen[bytes], log: Path) -> str:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        found = URL_IN_LOG.search(log.read_text())
        if found:
            return found[1]
        if process.poll() is not None:
            raise ServiceStartError(
                f"the verifier service ended with status {process.returncode}; "
                f"is the extra `service` installed? Its output:\n{log.read_text()}"
            )
        time.sleep(0.05)
    raise ServiceStartError(f"the verifier service did not start within {START_SECONDS:.0f} s")
