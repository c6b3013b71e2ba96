"""A program serves itself on loopback, and reaches nobody else there."""

from __future__ import annotations

import dataclasses
import os
import platform
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.conftest import LIMITS, Sandbox
from verifier_service.sandbox.execution import ExitReason, Layer, Program, ZygoteKind
from verifier_service.sandbox.loopback import _MARK, MAX_SOCKETS, Loopback

SERVE = """
import socket, threading
def serve(server):
    connection, _ = server.accept()
    with connection:
        while data := connection.recv(2**16):
            connection.sendall(data)
def exchange(server, name, data):
    thread = threading.Thread(target=serve, args=[server])
    thread.start()
    with socket.create_connection((name, server.getsockname()[1])) as connection:
        sender = threading.Thread(
            target=lambda: (connection.sendall(data), connection.shutdown(socket.SHUT_WR))
        )
        sender.start()
        found = b""
        while part := connection.recv(2**16):
            found += part
        sender.join()
    thread.join()
    return found
"""
HTTP = """
import http.server, threading, urllib.request
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.path.encode())
    def log_message(self, *args):
        pass
with http.server.ThreadingHTTPServer(("localhost", 0), Handler) as server:
    threading.Thread(target=server.serve_forever).start()
    print(urllib.request.urlopen(f"http://localhost:{server.server_port}/path").read())
    server.shutdown()
"""
ASYNCIO = """
import asyncio
async def serve(reader, writer):
    writer.write((await reader.readline()).upper())
    writer.close()
async def exchange(port, text):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    answer = await reader.read()
    writer.close()
    return answer
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    print(await asyncio.gather(*(exchange(port, b"%d a\\n" % n) for n in range(20))) == [
        b"%d A\\n" % n for n in range(20)])
asyncio.run(main())
"""

UNIX_NAME = f"verify-{os.getpid() % 10**6:06}"
"""An abstract name whose address is as long as one of IPv4, or the filter would refuse it."""


@pytest.fixture
def networked(sandbox: Sandbox) -> Sandbox:
    """The sandbox, if its executions have networks of their own."""
    if not sandbox.runner.has_loopback:
        is_hidden = any("net/core/somaxconn" in problem for problem in sandbox.runner.problems)
        assert is_hidden or Layer.NAMESPACES not in sandbox.runner.layers
        pytest.skip("executions can have no networks of their own here")
    return sandbox


def test_sockets_work_or_a_note_says_why_not(sandbox: Sandbox) -> None:
    execution = sandbox.run("import socket; socket.socket()")
    if sandbox.runner.has_loopback:
        assert execution.succeeded
        return
    assert b"PermissionError: [Errno 1] Operation not permitted" in execution.stderr
    assert any(problem.startswith("no sockets: ") for problem in sandbox.runner.problems)


def test_a_kernel_that_hides_a_setting_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linux 6.1 hides it from users; without it a queue could hold any number of connections."""
    monkeypatch.setattr(Loopback, "__init__", lambda _: None)
    loopback = Loopback()
    settings = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    monkeypatch.setattr(loopback, "_settings", settings, raising=False)
    try:
        with pytest.raises(OSError, match="does not let users set net/core/somaxconn"):
            loopback._set("core/somaxconn", "32")
    finally:
        os.close(settings)


@pytest.mark.parametrize("kind", [ZygoteKind.STD, ZygoteKind.SCI])
def test_a_program_talks_to_a_server_of_its_own(networked: Sandbox, kind: ZygoteKind) -> None:
    source = f"""{SERVE}
data = bytes(range(256)) * 10_000
for family, name in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "localhost")):
    with socket.create_server(("", 0), family=family) as server:
        print(exchange(server, name, data) == data)
"""
    assert networked.run(source, zygote_kind=kind).stdout == b"True\nTrue\n"


def test_programs_use_http_and_asyncio(networked: Sandbox) -> None:
    assert networked.run(HTTP).stdout == b"b'/path'\n"
    assert networked.run(ASYNCIO).stdout == b"True\n"


def test_a_port_is_free_for_each_execution(networked: Sandbox) -> None:
    """A port that the one before it has just used is free too.

    Where the server closes a connection first, its kernel keeps the port for a minute.
    """
    source = """
import socket
server = socket.socket()
server.bind(("127.0.0.1", 8080))
server.listen()
client = socket.create_connection(("127.0.0.1", 8080))
connection, _ = server.accept()
connection.sendall(b"data")
connection.close()
print(client.recv(9), client.recv(9))
client.close()
print(socket.getfqdn(), socket.gethostname())
"""
    for _ in range(4):
        assert networked.run(source).stdout == b"b'data' b''\nlocalhost localhost\n"


@pytest.mark.parametrize("family", [socket.AF_INET, socket.AF_INET6])
def test_a_program_does_not_reach_the_servers_of_this_machine(
    networked: Sandbox, family: socket.AddressFamily
) -> None:
    address = "127.0.0.1" if family == socket.AF_INET else "::1"
    if family == socket.AF_INET6 and not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    with socket.create_server((address, 0), family=family) as server:
        server.setblocking(False)
        port = server.getsockname()[1]
        source = f"""
import errno, os, socket
for address in ("{address}", "192.0.2.1"):
    try:
        socket.create_connection((address, {port}))
    except OSError as error:
        print(errno.errorcode[error.errno])
with socket.create_server(("{address}", {port}), family={int(family)}) as server:
    print(server.getsockname()[1] == {port})
"""
        assert networked.run(source).stdout == b"ECONNREFUSED\nENETUNREACH\nTrue\n"
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_program_does_not_see_the_abstract_sockets_of_this_machine(networked: Sandbox) -> None:
    with socket.socket(socket.AF_UNIX) as taken:
        taken.bind(f"\0{UNIX_NAME}")
        taken.listen()
        source = f"""
import socket
one, other = socket.socketpair()
try:
    other.connect("\\0{UNIX_NAME}")
except ConnectionRefusedError:
    print("nobody listens")
one.bind("\\0{UNIX_NAME}")
try:
    one.listen()
except OSError as error:
    print(error.strerror)
"""
        assert networked.run(source).stdout == b"nobody listens\nInvalid argument\n"


def test_the_channel_of_a_pair_cannot_be_given_a_name(networked: Sandbox) -> None:
    """It is of the network of the service, where names are claims on users."""
    program = f"""
import socket
channel = socket.socket(fileno=5)
try:
    channel.bind("\\0{UNIX_NAME}")
    found = "bound"
except OSError as error:
    found = error.strerror
channel.detach()
def solve(n):
    return found
"""
    judge = Program(payload=b"3\n", entry="ask")
    pair = networked.wait(
        networked.runner.run_pair(
            Program(payload=program.encode(), entry="answer"), judge, LIMITS, LIMITS
        )
    )
    assert pair.judge.result == b"Invalid argument\n"


def test_a_socket_that_is_not_reported_is_of_a_network_without_loopback(networked: Sandbox) -> None:
    number = {"x86_64": 41, "aarch64": 198}[platform.machine()]
    source = f"""
import ctypes, errno, socket
with socket.create_server(("127.0.0.1", 0)) as server:
    long = ctypes.c_long
    found = ctypes.CDLL(None).syscall(long({number}), 2, 1, 0, long(0), long(0), long({_MARK}))
    with socket.socket(fileno=found) as imitation:
        print(errno.errorcode[imitation.connect_ex(server.getsockname())])
"""
    assert networked.run(source).stdout == b"ENETUNREACH\n"


@pytest.mark.parametrize(
    "arguments",
    ["AF_INET, SOCK_DGRAM", "AF_INET6, SOCK_RAW", "AF_UNIX, SOCK_STREAM", "AF_NETLINK, SOCK_RAW"],
)
def test_no_other_sockets_are_permitted(networked: Sandbox, arguments: str) -> None:
    source = f"from socket import *\nsocket({arguments})"
    assert b"PermissionError: [Errno 1]" in networked.run(source).stderr


def test_what_lies_in_sockets_is_bounded(networked: Sandbox) -> None:
    """The kernel's memory for it is counted against no limit of the execution."""
    source = """
import socket
server = socket.create_server(("127.0.0.1", 0), backlog=10_000)
clients, sent = [], 0
try:
    for _ in range(59):
        client = socket.socket()
        client.settimeout(0.05)
        client.connect(server.getsockname())
        clients.append(client)
except TimeoutError:
    pass
for client in clients:
    client.setblocking(False)
    try:
        while True:
            sent += client.send(b"x" * 2**16)
    except BlockingIOError:
        pass
print(len(clients), sent // len(clients) // 2**10)
"""
    num_clients, kib_each = map(int, networked.run(source).stdout.split())
    assert 30 <= num_clients <= 34
    assert kib_each <= 128


def test_sockets_are_bounded_in_number_for_each_execution(networked: Sandbox) -> None:
    at_a_time = """
import socket
opened = []
try:
    while True:
        opened.append(socket.socket())
except OSError as error:
    print(len(opened), error.strerror)
"""
    one_by_one = """
import socket
num_opened = 0
try:
    while True:
        socket.socket().close()
        num_opened += 1
except OSError as error:
    print(num_opened, error.strerror)
"""
    limits = dataclasses.replace(LIMITS, num_files=30)
    for _ in range(2):
        num_opened, _, why = networked.run(at_a_time, limits=limits).stdout.partition(b" ")
        assert (0 < int(num_opened) < 30, why) == (True, b"Too many open files\n")
        expected = f"{MAX_SOCKETS} Too many open files\n"
        assert networked.run(one_by_one).stdout.decode() == expected


def test_a_program_that_ends_while_it_waits_for_a_socket_is_just_an_ended_program(
    networked: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    source = """
import os, socket, threading
started = threading.Event()
def open_sockets():
    while True:
        started.set()
        socket.socket().close()
for _ in range(8):
    threading.Thread(target=open_sockets, daemon=True).start()
started.wait()
os._exit(7)
"""
    for _ in range(20):
        assert networked.run(source).exit_code == 7
    assert networked.run("print(1)").stdout == b"1\n"
    assert "a zygote died" not in caplog.text


def test_a_program_that_opens_sockets_from_its_first_moment_meets_its_limit(
    networked: Sandbox,
) -> None:
    """Each socket wakes the zygote, which must tell of the program's start all the same."""
    source = """
from socket import socket
while True:
    try:
        socket()
    except OSError:
        pass
"""
    limits = dataclasses.replace(LIMITS, wall_seconds=0.5)
    for _ in range(3):
        assert networked.run(source, limits=limits).reason is ExitReason.WALL_LIMIT


def test_a_report_whose_child_is_gone_is_not_waited_for(networked: Sandbox) -> None:
    """The kernel wakes the zygote for a report; a child that is killed then takes it back."""
    source = """
from verifier_service.sandbox import namespaces
from verifier_service.sandbox.loopback import Loopback
assert namespaces.enter()
print(Loopback()._receive())
"""
    # It is run apart because the filter stays.
    command = [sys.executable, "-c", source]
    result = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (result.stdout, result.stderr) == ("None\n", "")
