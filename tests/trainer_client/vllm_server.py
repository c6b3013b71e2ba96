"""A stock vLLM server on CPU, started for a test."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import httpx

START_SECONDS = 240.0
ENVIRONMENT = {
    "VLLM_SERVER_DEV_MODE": "1",
    "VLLM_ALLOW_INSECURE_SERIALIZATION": "1",  # of handles of GPU memory, on this machine alone
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # or a third process imports vLLM, to be the worker
    # Threads bound to cores that others use would spin.
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Server:
    """The address of a server, and its process group."""

    url: str
    process: subprocess.Popen[bytes]

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the API process and its workers."""
        os.killpg(self.process.pid, number)


@contextmanager
def running_vllm(
    model: Path, log: Path, *flags: str, environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[Server]:
    """A server that serves this model, its output layer apart from its embeddings.

    vLLM's CPU build packs a tied output layer once and goes on with it after a reload.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        *("-m", "vllm.entrypoints.openai.api_server"),
        *("--model", str(model), "--dtype", "float32"),
        *("--host", "127.0.0.1", "--port", str(port), "--max-model-len", "256"),
        *("--enable-scale-out", "--logprobs-mode", "processed_logprobs", "--enforce-eager"),
        *("--max-num-seqs", "16", "--hf-overrides", '{"tie_word_embeddings": false}'),
        *flags,
    ]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **ENVIRONMENT, **environment},
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", process)
    try:
        _wait(server, log)
        yield server
    finally:
        server.signal(signal.SIGKILL)
        process.wait()


def _wait(server: Server, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    with httpx.Client(base_url=server.url) as client:
        while time.monotonic() < deadline:
            try:
                if client.get("/health").is_success:
                    # Its first answer takes seconds, which deadlines of tests do not have.
                    client.get("/server_info", timeout=60)
                    return
            except httpx.TransportError:
                pass
            assert server.process.poll() is None, log.read_text()[-3000:]
            time.sleep(0.2)
    raise AssertionError(f"not ready within {START_SECONDS} s: {log.read_text()[-3000:]}")
