"""The report of a run over HTTP, for browsers: it follows the run while it trains.

`GET /` is the page without data, `GET /data.json` the data as they are now. The page asks for the
data again and again, and gets 304 while nothing has changed.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from threading import Lock

from trainer_client.config.run_config import ConfigError
from trainer_client.errors import TrainerError
from trainer_client.run.console import say
from trainer_client.run.logged_run import LoggedRun
from trainer_client.run.report import page, policy, report_data

SECONDS = 5.0
"""Shortest time between two looks at the run's files."""
SHARE_OF_TIME = 0.1
"""Largest share of the time that is spent on making the data again."""
CONNECT = "'self'"


class LiveReport:
    """The newest data of a run, made again when a page asks and the last look is long enough ago.

    Args:
        run_dir: folder of the run.

    Raises:
        ReportError: the folder holds no run.
    """

    def __init__(self, run_dir: Path) -> None:
        self._run_dir = run_dir
        self._lock = Lock()
        self._next_look = 0.0
        self._data = b""
        self.data()

    def data(self) -> bytes:
        """The data in JSON; several threads may ask, one makes them."""
        with self._lock:
            start = time.monotonic()
            if start >= self._next_look:
                self._data = json.dumps(report_data(LoggedRun.read(self._run_dir))).encode()
                end = time.monotonic()
                self._next_look = end + max(SECONDS, (end - start) / SHARE_OF_TIME)
            return self._data


def serve_report(run_dir: Path, host: str, port: int) -> None:
    """Serve the report until SIGINT, and say where.

    Raises:
        ReportError: the folder holds no run.
        ConfigError: the address cannot be listened at.
    """
    with open_server(run_dir, host, port) as server:
        where = "127.0.0.1" if host in ("0.0.0.0", "") else host
        say(f"report: http://{where}:{server.server_port}/ (Ctrl+C ends)")
        with suppress(KeyboardInterrupt):
            server.serve_forever()


def open_server(run_dir: Path, host: str, port: int) -> ThreadingHTTPServer:
    """A server that listens; `serve_forever` answers.

    Raises:
        ReportError: the folder holds no run.
        ConfigError: the address cannot be listened at.
    """
    report = LiveReport(run_dir)
    try:
        return ThreadingHTTPServer((host, port), partial(_Handler, report, host))
    except (OSError, OverflowError) as error:
        raise ConfigError(f"cannot listen at {host}, port {port}: {error}") from error


class _Handler(BaseHTTPRequestHandler):
    """One connection of a browser."""

    timeout = 60.0
    """Seconds after which a connection that says nothing is closed."""

    def __init__(self, report: LiveReport, host: str, *arguments: object) -> None:
        self._report, self._host = report, host
        super().__init__(*arguments)  # type: ignore[arg-type]

    def do_GET(self) -> None:
        """Answer with the page, the data, or a refusal."""
        if not _is_own_name(self.headers.get("Host", ""), self._host):
            # A page of another site, whose name it lets point here, would read the run.
            self._answer(HTTPStatus.MISDIRECTED_REQUEST, b"ask by address or as localhost\n", {})
        elif self.path == "/":
            html = {"Content-Type": "text/html; charset=utf-8"}
            body = page("null", connect=CONNECT).encode()
            self._answer(HTTPStatus.OK, body, {**html, "Content-Security-Policy": _policy()})
        elif self.path == "/data.json":
            self._answer_data()
        else:
            self._answer(HTTPStatus.NOT_FOUND, b"there is / and /data.json\n", {})

    def _answer_data(self) -> None:
        try:
            data = self._report.data()
        except TrainerError as error:  # the folder has been removed since
            self._answer(HTTPStatus.SERVICE_UNAVAILABLE, f"{error}\n".encode(), {})
            return
        tag = f'"{hashlib.blake2b(data, digest_size=16).hexdigest()}"'
        headers = {"Content-Type": "application/json", "ETag": tag}
        if self.headers.get("If-None-Match") == tag:
            self._answer(HTTPStatus.NOT_MODIFIED, b"", headers)
        else:
            self._answer(HTTPStatus.OK, data, headers)

    def _answer(self, status: HTTPStatus, body: bytes, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        always = {"Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff"}
        text = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body))}
        for name, value in {**text, **always, **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing: a line for each look of a page would hide the address above them."""


def _policy() -> str:
    return f"{policy(CONNECT)}; frame-ancestors 'none'"


def _is_own_name(header: str, host: str) -> bool:
    """Whether a Host header names this server by an address, as localhost, or as it was started.

    >>> _is_own_name("127.0.0.1:8081", "127.0.0.1"), _is_own_name("[::1]:8081", "::1")
    (True, True)
    >>> _is_own_name("evil.example:8081", "127.0.0.1")
    False
    """
    name = header.rpartition(":")[0] if not header.endswith("]") and ":" in header else header
    name = name.strip("[]").lower()
    if name in ("localhost", host.lower()):
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
