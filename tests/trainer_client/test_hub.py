"""Models are uploaded to an address that speaks the hub's protocol."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
import yaml
from huggingface_hub import HfApi

from tests.trainer_client.runs import run_config
from trainer_client import cli, hub
from trainer_client.config.run_config import ConfigError, dump_config


class Hub:
    """The repositories and files of a hub; names in `closed` are refused."""

    def __init__(self) -> None:
        self.created: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}
        self.url = ""

    def respond(self, path: str, body: bytes) -> tuple[int, Any]:
        """Status and JSON of a response."""
        if path == "/api/repos/create":
            self.created.append(json.loads(body))
            if self.created[-1]["name"] == "closed":
                return 403, {"error": "You may not create a repository here"}
            return 200, {"url": f"{self.url}/me/sums"}
        if path == "/api/validate-yaml":
            return 200, {"warnings": [], "errors": []}
        if path.endswith("/preupload/main"):
            names = [one["path"] for one in json.loads(body)["files"]]
            regular = {"uploadMode": "regular", "shouldIgnore": False, "oid": None}
            return 200, {"files": [{"path": name, **regular} for name in names]}
        if "/commit/" in path:
            for line in body.splitlines():
                entry = json.loads(line)
                if entry["key"] == "file":
                    content = base64.b64decode(entry["value"]["content"])
                    self.files[entry["value"]["path"]] = content
            commit = {
                "commitOid": "0" * 40,
                "commitUrl": f"{self.url}/me/sums/commit/0",
                "pullRequestUrl": None,
            }
            return 200, commit
        return 404, {"error": "Repository not found"}


@pytest.fixture
def local_hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub on this machine, which the client takes for its own."""
    found = Hub()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send(*found.respond(self.path.partition("?")[0], body))

        def do_GET(self) -> None:
            self.send(*found.respond(self.path.partition("?")[0], b""))

        def send(self, status: int, response: Any) -> None:
            content = json.dumps(response).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        api = HfApi(endpoint=found.url, token="hf_test")
        monkeypatch.setattr(hub, "HfApi", lambda: api)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
        yield found
        server.shutdown()


@pytest.fixture
def run_dir(task: Path, tmp_path: Path) -> Path:
    """A run with the figures of an evaluation before training and after step 2."""
    folder = tmp_path / "run"
    folder.mkdir()
    evaluation = {"dataset": {"path": "held_out.jsonl"}, "k": [1]}
    config = run_config(task, folder, "accuracy", evaluation=evaluation)
    (folder / "config.yaml").write_text(dump_config(config))
    rows = [{"step": 0, "evaluation/pass@1": 0.25}, {"step": 2, "evaluation/pass@1": 0.5}]
    (folder / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def exported(tmp_path: Path) -> Path:
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"\0weights")
    return folder


@pytest.mark.parametrize("public", [False, True])
def test_a_folder_is_uploaded_with_a_card(
    local_hub: Hub, run_dir: Path, tmp_path: Path, public: bool
) -> None:
    address = hub.push_model(exported(tmp_path), "me/sums", run_dir, 2, public=public)
    assert address == f"{local_hub.url}/me/sums"
    (created,) = local_hub.created
    assert (created["name"], created["organization"]) == ("sums", "me")
    assert created["visibility"] == ("public" if public else "private")
    assert local_hub.files["model.safetensors"] == b"\0weights"
    card = local_hub.files["README.md"].decode()
    head = yaml.safe_load(card.split("---")[1])
    assert head["pipeline_tag"] == "text-generation"
    assert "base_model" not in head  # it is a folder of this machine
    assert "| `evaluation/pass@1` | 0.250 | 0.500 |" in card
    assert "1 accuracy" in card


def test_an_object_of_a_script_is_no_base_model_of_the_hub(run_dir: Path, task: Path) -> None:
    for path, named in (("given:policy", False), ("Qwen/Qwen2.5-0.5B", True)):
        config = run_config(task, run_dir, "accuracy", model={"path": path})
        assert ("base_model:" in hub.model_card(config, "me/sums", run_dir, 2)) is named


def test_a_refusal_says_how_to_go_on(local_hub: Hub, run_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"me/closed: .*hf upload me/closed .*out` goes on"):
        hub.push_model(exported(tmp_path), "me/closed", run_dir, 2, public=False)
    assert not local_hub.files


def test_a_hub_that_is_away_is_named(
    run_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    api = HfApi(endpoint="http://127.0.0.1:9", token="hf_test")
    monkeypatch.setattr(hub, "HfApi", lambda: api)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with pytest.raises(ConfigError, match=r"--push-to-hub me/sums: .*hf upload me/sums"):
        hub.push_model(exported(tmp_path), "me/sums", run_dir, 2, public=False)


def test_a_name_that_is_none_is_refused(local_hub: Hub, run_dir: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--push-to-hub a/b/c"):
        hub.push_model(exported(tmp_path), "a/b/c", run_dir, 2, public=False)


def test_public_without_a_repository_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.run(["export", "run", "out", "--public"])
    assert "--public needs --push-to-hub" in "".join(capsys.readouterr())
