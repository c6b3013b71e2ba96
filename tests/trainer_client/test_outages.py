"""Training goes on when the verifier is away for a while, and stops well when it is for too long.

The verifier here is a small HTTP server that misbehaves as it is told; what it says about a text is
a function of the text.
"""

from __future__ import annotations

import json
import math
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.trainer_client.runs import metrics, rollouts, run_config, same, weights
from trainer_client.config.run_config import Config
from trainer_client.errors import TrainingStopped
from trainer_client.run.checkpoint import list_checkpoints
from trainer_client.train import train

DOWN_SECONDS = 20.0


def verdict(text: str, *, fails: bool = True) -> dict[str, Any]:
    """`failed` for about 5% of texts, `unverifiable` for 10%, else the share of digits."""
    share = zlib.crc32(text.encode()) % 100
    if fails and share < 5:
        return {"outcome": "failed", "reason": "sandbox_error"}
    if share < 15:
        return {"outcome": "unverifiable", "reason": "bad_reference"}
    score = sum(character.isdigit() for character in text) / 8
    return {"outcome": "scored", "score": score, "reason": "equal"}


class Verifier:
    """A server whose misbehaviour `misbehave` decides from the number of the request.

    With `fails` some verdicts are `failed`, however often they are asked for.
    """

    def __init__(self, misbehave: Callable[[int], str | None], *, fails: bool) -> None:
        self.num_requests = 0
        self._misbehave = misbehave
        self._fails = fails
        self._lock = threading.Lock()
        verifier = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.send(200, b"{}")

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                verifier.answer(self, body)

            def send(self, status: int, body: bytes, *, length: int | None = None) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body) if length is None else length))
                if status == 503:
                    self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._handler = Handler
        self._server: ThreadingHTTPServer | None = None
        self.port = 0
        self.open()

    def open(self) -> None:
        """Listen, on the same port as before."""
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), self._handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        """Refuse connections from now on."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def answer(self, handler: Any, body: dict[str, Any]) -> None:
        """Answer one request, or misbehave; the question at the start is answered well."""
        if not body["groups"]:
            handler.send(200, b'{"groups": []}')
            return
        with self._lock:
            self.num_requests += 1
            action = self._misbehave(self.num_requests)
        (group,) = body["groups"]
        verdicts = [
            {"verdicts": {"judge": verdict(item["text"], fails=self._fails)}}
            for item in group["completions"]
        ]
        text = json.dumps({"groups": [{"completions": verdicts}]}).encode()
        if action == "busy":
            handler.send(503, b'{"error": {"type": "overloaded", "message": "queue full"}}')
        elif action == "drop":
            handler.send(200, text[: len(text) // 2], length=len(text))
            handler.close_connection = True
        else:
            handler.send(200, text)


@contextmanager
def verifier(
    misbehave: Callable[[int], str | None] = lambda number: None, *, fails: bool = True
) -> Iterator[Verifier]:
    server = Verifier(misbehave, fails=fails)
    try:
        yield server
    finally:
        server.close()


def config(task: Path, run_dir: Path, server: Verifier, **sections: Any) -> Config:
    reward = {
        "functions": [],
        "url": f"http://127.0.0.1:{server.port}",
        "verifiers": [{"type": "accuracy", "name": "judge"}],
        "max_attempts": 4,
        "backoff_seconds": 0.001,
        **sections.pop("reward", {}),
    }
    return run_config(task, run_dir, reward=reward, **sections)


def check_rewards_and_advantages(run_dir: Path, steps: int, *, fails: bool = True) -> None:
    """Every reward is the judge's, every advantage is worked out over what was judged."""
    num_unjudged = 0
    for step, row in zip(range(1, steps + 1), metrics(run_dir), strict=True):
        completions = rollouts(run_dir, step)
        said = [verdict(item["completion"], fails=fails) for item in completions]
        outcomes = [one["outcome"] for one in said]
        for outcome in ("failed", "unverifiable"):
            share = outcomes.count(outcome) / len(outcomes)
            assert row[f"verifier/{outcome}_fraction"] == pytest.approx(share)
        for start in range(0, len(completions), 4):
            group = completions[start : start + 4]
            judged = [item["reward"] for item in group if item["reward"] is not None]
            mean = sum(judged) / max(len(judged), 1)
            std = math.sqrt(sum((value - mean) ** 2 for value in judged) / max(len(judged), 1))
            for item, one in zip(group, said[start : start + 4], strict=True):
                assert item["reward"] == one.get("score")
                expected = 0.0
                if item["reward"] is None:
                    num_unjudged += 1
                elif std > 0:
                    expected = (item["reward"] - mean) / (std + 1e-6)
                assert item["advantage"] == pytest.approx(expected, abs=1e-9)
    assert num_unjudged > 0


@pytest.mark.slow
def test_busy_answers_and_dropped_connections_change_nothing(task: Path, tmp_path: Path) -> None:
    def misbehave(number: int) -> str | None:
        return {0: "busy", 1: "drop"}.get(number % 5)

    with verifier() as server:
        train(config(task, tmp_path / "calm", server))
        undisturbed = server.num_requests
    with verifier(misbehave) as server:
        train(config(task, tmp_path / "stormy", server))
        assert server.num_requests > undisturbed
    check_rewards_and_advantages(tmp_path / "stormy", 4)
    assert same(weights(tmp_path / "calm" / "model"), weights(tmp_path / "stormy" / "model"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "message"),
    [
        ("busy", r"no verdicts from the verifier.*503.*raise max_attempts\. Saved"),
        ("drop", r"no answer from the verifier.*is reward\.url right\? Saved"),
    ],
)
def test_a_verifier_that_stays_away_leaves_a_checkpoint_that_resumes_exactly(
    task: Path, tmp_path: Path, action: str, message: str
) -> None:
    run_dir = tmp_path / "run"

    def misbehave(number: int) -> str | None:
        return action if number > 2 * 4 else None  # four groups in each step

    with verifier() as server:
        train(config(task, tmp_path / "whole", server, reward={"max_attempts": 1}))
    with verifier(misbehave) as server:
        settings = config(task, run_dir, server, reward={"max_attempts": 1})
        with pytest.raises(TrainingStopped, match=rf"stopped after step 2: {message}"):
            train(settings)
        assert [checkpoint.step for checkpoint in list_checkpoints(run_dir)] == [2]
    with verifier() as server:
        settings = config(task, run_dir, server, reward={"max_attempts": 1})
        train(settings, resume=True)
    assert same(weights(tmp_path / "whole" / "model"), weights(run_dir / "model"))


@pytest.mark.slow
def test_training_goes_on_after_twenty_seconds_without_a_verifier(
    task: Path, tmp_path: Path
) -> None:
    reopened: list[threading.Timer] = []

    def misbehave(number: int) -> str | None:
        if number == 6:
            threading.Thread(target=server.close).start()
            reopened.append(threading.Timer(DOWN_SECONDS, server.open))
            reopened[0].start()
        return None

    with verifier(misbehave, fails=False) as server:  # retrying those would take minutes more
        train(
            config(
                task, tmp_path / "run", server, reward={"backoff_seconds": 0.5, "max_attempts": 8}
            )
        )
        assert reopened[0].finished.is_set()
    check_rewards_and_advantages(tmp_path / "run", 4, fails=False)
