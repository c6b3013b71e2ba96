"""Reasons that keep the service from starting are one line each, before anything is started."""

from __future__ import annotations

import resource
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import verifier_service.commands.serve
from tests.processes import children, fork_servers, pid_in
from tests.verifier_service.test_settings import refusal
from trainer_client.service_process import running_service
from verifier_service.server import MAX_OPEN_FILES, CannotServe, listen, serve
from verifier_service.settings import Settings, unknown_variables

KUBERNETES = ("VERIFIER_SERVICE_HOST", "VERIFIER_SERVICE_PORT", "VERIFIER_PORT_8080_TCP_ADDR")
"""Variables that Kubernetes gives to containers beside a service named `verifier`."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The log of a service for texts, started with a foreign variable and few open files."""
    path = tmp_path_factory.mktemp("server") / "service.log"
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert hard > 512
    resource.setrlimit(resource.RLIMIT_NOFILE, (512, hard))
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("VERIFIER_URL", "http://verifier")
            with running_service(path, "--workers", "1", "--enabled", "format"):
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
                yield path
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
def test_a_port_in_use_is_one_line_with_the_setting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        command = [sys.executable, "-m", "verifier_service", "serve", "--port", str(port)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert result.returncode == 2
    assert result.stderr == (f"port {port} is in use: choose another with --port / VERIFIER_PORT\n")


@pytest.mark.parametrize("host", ["192.0.2.1", "not an address"])
def test_a_host_that_is_not_this_machines_is_named(host: str) -> None:
    with pytest.raises(CannotServe, match=f"^'{host}' is no address of this machine: .* --host"):
        serve(Settings(host=host, port=0))


def test_a_machine_without_a_temporary_directory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/proc/none"])
    with pytest.raises(CannotServe, match=r"'/proc/none'\]: set TMPDIR"):
        serve(Settings())


def test_a_machine_without_proc_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.exists", lambda _: False)
    with pytest.raises(CannotServe, match="/proc is not mounted"):
        serve(Settings())


def test_an_answer_does_not_wait_for_the_acknowledgement_of_its_headers() -> None:
    """Which a client may delay by 40 ms."""
    (listener,) = listen("127.0.0.1", 0)
    with listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_misspelt_variable_is_refused_with_the_nearest_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VERIFIER_ITEM_CPU_SECOND", "3")
    monkeypatch.setattr(verifier_service.commands.serve, "hide_process", lambda: None)
    assert refusal(["serve"], capsys) == (
        "VERIFIER_ITEM_CPU_SECOND is no setting of the service: "
        "did you mean VERIFIER_ITEM_CPU_SECONDS?\n"
    )


@pytest.mark.parametrize(
    ("variable", "near"),
    [
        ("VERIFIER_WROKERS", "VERIFIER_WORKERS"),
        ("VERIFIER_API_KEYS", "VERIFIER_API_KEYS_FILE"),
        ("VERIFIER_API_KEY_HASH", "VERIFIER_API_KEY_HASHES"),
        ("verifier_enable", "VERIFIER_ENABLED"),
        ("VERIFIER_URL", None),
        *((name, None) for name in KUBERNETES),
    ],
)
def test_only_a_name_that_resembles_a_setting_is_taken_for_one(
    variable: str, near: str | None
) -> None:
    assert unknown_variables([variable]) == {variable: near}


@pytest.mark.parametrize(
    "variable", ["VERIFIER_PORT", "verifier_port", "VERIFIER_CPUS", "REWARD_VERIFIER_URL", "HOME"]
)
def test_variables_of_others_and_settings_are_not_unknown(variable: str) -> None:
    assert unknown_variables([variable]) == {}


@pytest.mark.slow
def test_a_variable_that_resembles_no_setting_is_logged(log: Path) -> None:
    assert "VERIFIER_URL: no setting of the service, ignored" in log.read_text()


@pytest.mark.slow
def test_the_limit_on_open_files_is_raised_for_the_service_and_not_for_its_workers(
    log: Path,
) -> None:
    service = pid_in(log)
    (server,) = fork_servers(service, "text_worker")
    (worker,) = children(server)
    raised, hard = resource.prlimit(service, resource.RLIMIT_NOFILE)
    assert raised == min(hard, MAX_OPEN_FILES)
    assert resource.prlimit(worker, resource.RLIMIT_NOFILE) == (64, 64)


@pytest.mark.slow
def test_a_process_for_code_workers_that_nobody_wants_does_not_stay(log: Path) -> None:
    """It is started before the command knows its settings."""
    assert fork_servers(pid_in(log), "code_worker") == []


@pytest.mark.slow
def test_a_process_for_text_workers_that_nobody_wants_does_not_stay(tmp_path: Path) -> None:
    with running_service(tmp_path / "log", "--code-workers", "1", "--enabled", "code"):
        assert fork_servers(pid_in(tmp_path / "log"), "text_worker") == []


EARLY = """
import sys
from verifier_service.workers import server_process
server_process.start_early("verifier_service.workers.text_worker")
ours = [name for name in sys.modules if name.startswith("verifier_service")]
print(server_process._template._process.pid, len(ours))
"""


def test_a_process_that_was_started_early_ends_with_its_command() -> None:
    result = subprocess.run(
        [sys.executable, "-c", EARLY], capture_output=True, text=True, timeout=600, check=True
    )
    pid, num_modules = map(int, result.stdout.split())
    assert not Path(f"/proc/{pid}").exists()
    assert num_modules == 3  # the package, `workers` and this module: it comes before all others
