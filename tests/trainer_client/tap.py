"""A forwarder between a trainer and a server, which tells of each request that has passed."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread
from urllib.parse import urlsplit


@contextmanager
def forwarding(url: str, on_request: Callable[[str], None]) -> Iterator[str]:
    """The URL of a forwarder to `url`.

    `on_request(path)` is called when the server has all of the request but its last byte, so that
    the server cannot have answered before. A server that is gone closes the client's connections.
    """
    address = (urlsplit(url).hostname, urlsplit(url).port)

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            with suppress(OSError), socket.create_connection(address) as server:
                answers: Thread | None = None
                while request := self.request_bytes():
                    server.sendall(request[:-1])
                    on_request(request.split(b" ", 2)[1].decode().partition("?")[0])
                    server.sendall(request[-1:])
                    if answers is None:
                        answers = Thread(target=self.pass_answers, args=(server,), daemon=True)
                        answers.start()

        def request_bytes(self) -> bytes:
            """One request, whole; empty at the end of the connection."""
            head, length = b"", 0
            while line := self.rfile.readline():
                head += line
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                if line == b"\r\n":
                    break
            return head + self.rfile.read(length)

        def pass_answers(self, server: socket.socket) -> None:
            with suppress(OSError):
                while data := server.recv(65536):
                    self.connection.sendall(data)
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)

    class Forwarder(ThreadingTCPServer):
        daemon_threads = True
        request_queue_size = 128

    with Forwarder(("127.0.0.1", 0), Handler) as forwarder:
        Thread(target=forwarder.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{forwarder.server_address[1]}"
        finally:
            forwarder.shutdown()
