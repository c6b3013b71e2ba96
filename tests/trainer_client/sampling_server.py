"""A server that speaks the part of vLLM's protocol that the trainer uses, and samples for real.

Its model is the one that the last `reload_weights` named, with the adapter that the last
`load_lora_adapter` named where it has room for adapters; a completion is a function of weights,
prompt and seed. A pause waits for completions under way, or freezes them between two tokens, and
their other tokens are of the weights after it. `spoil` may change a response before it is sent;
`pace` is called before each token.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

Spoil = Callable[[str, Any], Any]
"""The response to send, given the path and the right response; an int is a status alone."""


class Gate:
    """Lets tokens through, unless a pause holds them back."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._paused = self._frozen = False
        self.under_way = 0
        """Number of requests whose completions are being sampled."""
        self._in_token = 0

    @contextmanager
    def request(self) -> Iterator[None]:
        """Inside, completions are sampled; it begins when no pause is on."""
        with self._changed:
            self._changed.wait_for(lambda: not self._paused)
            self.under_way += 1
        try:
            yield
        finally:
            with self._changed:
                self.under_way -= 1
                self._changed.notify_all()

    @contextmanager
    def token(self) -> Iterator[None]:
        """Inside, one token is sampled; it begins when completions are not frozen."""
        with self._changed:
            self._changed.wait_for(lambda: not self._frozen)
            self._in_token += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_token -= 1
                self._changed.notify_all()

    def pause(self, mode: str) -> None:
        """Freeze completions between tokens (`keep`), or wait until they have ended (`wait`)."""
        with self._changed:
            self._paused, self._frozen = True, mode == "keep"
            self._changed.wait_for(
                lambda: not (self._in_token if mode == "keep" else self.under_way)
            )

    def resume(self) -> None:
        """Let all go on."""
        with self._changed:
            self._paused = self._frozen = False
            self._changed.notify_all()


@dataclass(frozen=True)
class SampledGroup:
    """A request and its completions."""

    seed: int
    prompt_ids: list[int]
    choices: list[dict[str, Any]]


class Sampler:
    """The model, its version, and the paths that were asked for."""

    def __init__(
        self, model: str, pace: Callable[[], None], max_lora_rank: int | None = None
    ) -> None:
        self.paths: list[str] = []
        self.groups: list[SampledGroup] = []
        """All groups that were sampled, whoever had gone away meanwhile."""
        self.adapter: str | None = None
        self._max_lora_rank = max_lora_rank
        self.version = ""
        self.runs: list[str] = []
        """The runs whose weights came, by the first part of their versions."""
        self._pace = pace
        self._gate = Gate()
        self._model = AutoModelForCausalLM.from_pretrained(model).eval()

    def respond(self, path: str, body: Any, query: dict[str, list[str]]) -> Any:
        """The JSON that vLLM would send."""
        self.paths.append(path)
        if path == "/pause":
            self._gate.pause(query["mode"][0])
        if path == "/resume":
            self._gate.resume()
        if path == "/reset_prefix_cache" and self._gate.under_way:
            return {"success": query.get("reset_running_requests") == ["true"]}
        if path == "/server_info":
            lora = self._max_lora_rank and {"max_lora_rank": self._max_lora_rank}
            mode = {"logprobs_mode": "processed_logprobs"}
            return {"vllm_config": {"model_config": mode, "lora_config": lora}}
        if path.endswith("_lora_adapter"):
            return self._take_adapter(path, body)
        if path == "/collective_rpc":
            folder = body["kwargs"]["weights_path"]
            self._model = AutoModelForCausalLM.from_pretrained(folder).eval()
        if path == "/update_weight_version":
            self.version = body["new_version"]
            if (run := self.version.partition(".")[0]) not in self.runs:
                self.runs.append(run)
        if path == "/inference/v1/generate":
            if body and body.get("model") != self.adapter:
                return 404
            return self._choices(body) if body else 422
        return {"success": True}

    def _take_adapter(self, path: str, body: dict[str, Any]) -> Any:
        """Load an adapter in the place of none, or take one away."""
        if self._max_lora_rank is None:
            return 404
        if not body:
            return 422
        if path == "/v1/unload_lora_adapter":
            assert body["lora_name"] == self.adapter
            self._model, self.adapter = self._model.unload(), None
        else:
            assert self.adapter is None
            self._model = PeftModel.from_pretrained(self._model, body["lora_path"]).eval()
            self.adapter = body["lora_name"]
        return b"Success"

    def _choices(self, body: dict[str, Any]) -> dict[str, Any]:
        parameters = body["sampling_params"]
        generator = torch.Generator().manual_seed(parameters["seed"])
        with self._gate.request():
            choices = [
                self._choice(body["token_ids"], parameters, generator)
                for _ in range(parameters["n"])
            ]
        self.groups.append(SampledGroup(parameters["seed"], body["token_ids"], choices))
        return {"choices": choices}

    @torch.no_grad()
    def _choice(
        self, prompt: list[int], parameters: dict[str, Any], generator: torch.Generator
    ) -> dict[str, Any]:
        ids, logprobs = list(prompt), []
        spans: list[dict[str, Any]] = []
        for index in range(parameters["max_tokens"]):
            self._pace()
            with self._gate.token():
                if not spans or spans[-1]["version"] != self.version:
                    spans.append({"version": self.version, "start": index})
                spans[-1]["end"] = index + 1
                scores = self._model(torch.tensor([ids])).logits[0, -1]
            scores = scores / parameters["temperature"]
            ids.append(int(torch.multinomial(scores.softmax(-1), 1, generator=generator)))
            logprobs.append({"logprob": scores.log_softmax(-1)[ids[-1]].item()})
            if ids[-1] in parameters["stop_token_ids"]:
                break
        return {
            "token_ids": ids[len(prompt) :],
            "finish_reason": "stop" if ids[-1] in parameters["stop_token_ids"] else "length",
            "logprobs": {"content": logprobs},
            "weight_versions": spans,
        }


class Server(ThreadingHTTPServer):
    """A server that a whole data set may connect to at once."""

    request_queue_size = 1024


@contextmanager
def sampling_server(
    model: str,
    spoil: Spoil = lambda path, response: response,
    pace: Callable[[], None] = lambda: None,
    *,
    max_lora_rank: int | None = None,
) -> Iterator[tuple[str, Sampler]]:
    """The URL of a running server, and its sampler."""
    sampler = Sampler(model, pace, max_lora_rank)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send(None)

        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send(json.loads(content) if content else None)

        def send(self, body: Any) -> None:
            address = urlsplit(self.path)
            response = spoil(
                address.path, sampler.respond(address.path, body, parse_qs(address.query))
            )
            status, response = (response, {}) if isinstance(response, int) else (200, response)
            content = response if isinstance(response, bytes) else json.dumps(response).encode()
            with suppress(ConnectionError):  # whoever asked has given the request up
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", sampler
        finally:
            server.shutdown()
