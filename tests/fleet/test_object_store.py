"""Checkpoints in an S3 bucket: moto's server, s3fs, and what the server refuses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest
from moto.server import ThreadedMotoServer

from tests.trainer_client.test_checkpoint_store import FILES, saved, steps
from trainer_client.processes import Processes
from trainer_client.run.checkpoint_store import CheckpointStore
from trainer_client.run.run_folder import checkpoint_folder

pytestmark = pytest.mark.fleet

BUCKET = "runs"


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a run in a bucket of a server on this machine."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    for variable, value in {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }.items():
        monkeypatch.setenv(variable, value)
    boto3.client("s3").create_bucket(Bucket=BUCKET)
    yield f"s3://{BUCKET}/grpo"
    server.stop()


def test_a_checkpoint_goes_through_a_bucket(bucket: str, tmp_path: Path) -> None:
    old, new = (CheckpointStore(bucket, tmp_path / node, Processes()) for node in ("old", "new"))
    for step in (1, 2):
        old.keep(saved(tmp_path / "old", step))
    checkpoint_folder(tmp_path / "old", 1).rename(tmp_path / "gone")
    old.keep(saved(tmp_path / "old", 3))
    new.restore()
    assert steps(tmp_path / "new") == [3]
    for name, content in FILES.items():
        assert (checkpoint_folder(tmp_path / "new", 3) / name).read_bytes() == content + b"3"
    keys = [one["Key"] for one in boto3.client("s3").list_objects_v2(Bucket=BUCKET)["Contents"]]
    assert {key.split("/")[2] for key in keys} == {"step_000002", "step_000003"}


def test_a_bucket_that_does_not_exist_is_a_warning(
    bucket: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = CheckpointStore("s3://nobody/grpo", tmp_path, Processes())
    store.keep(saved(tmp_path, 1))
    assert "warning: step_000001 is not in s3://nobody/grpo" in capsys.readouterr().out
    assert steps(tmp_path) == [1]
