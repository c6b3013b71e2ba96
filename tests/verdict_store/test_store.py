"""The store of a service: what reaches its files, whatever dies, and what is dropped."""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.processes import pid_in, tree
from tests.verdict_store.stores import RIGHT, completion, record, stored_rows, wait_until
from trainer_client.service_process import running_service
from verifier_service import frames
from verifier_service.settings import Settings
from verifier_service.verdict_store import store as store_module
from verifier_service.verdict_store.records import COUNT_BYTES
from verifier_service.verdict_store.store import StoreOptions, VerdictStore
from verifier_service.verdict_store.writer_messages import WriterOptions
from verifier_service.verdict_store.writer_process import Writer

SECRET = "the password is swordfish"
SOON = ("--store-flush-seconds", "0.05")
LATE = ("--store-flush-seconds", "100000")
FAST = ("--workers", "1", "--enabled", "accuracy,format")
LARGE = [f"It is {number}." for number in range(1500)]
"""Completions of a request that a process of its own reads."""
Stored = dict[str, list[dict[str, Any]]]


@contextmanager
def storing(folder: Path, *flags: str) -> Iterator[tuple[httpx.Client, int]]:
    """A client of a service with a store, and the service's process."""
    log = folder.parent / f"{folder.name}.log"
    with (
        running_service(log, *FAST, "--store", str(folder), *flags) as url,
        httpx.Client(base_url=url, timeout=600) as http,
    ):
        yield http, pid_in(log)


def score(http: httpx.Client, *texts: str, number: int = 2) -> None:
    group = {"prompt": SECRET, "reference": {"answer": str(number)}, "completions": texts}
    body = {"verifiers": [{"type": "accuracy"}, {"type": "format"}], "groups": [group]}
    assert http.post("/v1/score", json=body).status_code == 200


def counted(http: httpx.Client, result: str) -> float:
    for family in text_string_to_metric_families(http.get("/metrics").text):
        for sample in family.samples:
            if sample.name == "verifier_store_verdicts_total" and sample.labels["result"] == result:
                return sample.value
    raise AssertionError("the service has no store")


def writer_of(service: int) -> int:
    """The process that writes the store of a service."""
    for pid in tree(service):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if store_module.WRITER_MODULE.encode() in command:
            return pid
    raise AssertionError("there is no writer")


@pytest.mark.slow
def test_every_verdict_is_stored_and_none_of_its_texts(tmp_path: Path) -> None:
    with storing(tmp_path / "store", *SOON) as (http, _):
        score(http, f"{SECRET}: 2", f"{SECRET}: 3", f"{SECRET}: 3")
        wait_until(lambda: counted(http, "written") == 6)
    rows = stored_rows(tmp_path / "store")
    accuracy = [row for row in rows if row["verifier"] == "accuracy"]
    assert [row["reason"] for row in accuracy] == ["equal", "different", "different"]
    assert accuracy[1]["request_hash"] == accuracy[2]["request_hash"] != accuracy[0]["request_hash"]
    assert [row["completion_index"] for row in accuracy] == [0, 1, 2]
    assert {row[key] for row in rows for key in ("completion", "extracted", "prompt")} == {None}
    files = b"".join(path.read_bytes() for path in (tmp_path / "store").iterdir())
    assert b"swordfish" not in files


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """The rows of a service that stores texts, by the ids of the calls, once it has ended."""
    folder = tmp_path_factory.mktemp("stored") / "store"
    more = ("--store-texts", "text", "--enabled", "accuracy,format,code", "--code-workers", "1")
    answer = {"reference": {"answer": "2"}}
    groups = [
        {**answer, "completions": ["2"]},
        {"verifiers": [{"type": "format"}], "completions": ["x", "y"]},
        {**answer, "completions": ["3"]},
    ]
    program = {"code": "print(1)", "stdin": SECRET}
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("openrlhf", "/get_reward", {"query": [r"\boxed{7}"], "prompts": ["q"], "labels": ["7"]}),
        ("execute", "/v1/execute", {"executions": [program]}),
        ("run_code", "/run_code", {**program, "language": "python"}),
        ("own", "/v1/score", {"verifiers": [{"type": "accuracy"}], "groups": groups}),
    ]
    with storing(folder, *LATE, *more) as (http, _):
        for name, *texts in (("text", f"{SECRET}: 2"), ("twice", "2"), ("twice", "3")):
            http.headers["X-Request-ID"] = name
            score(http, *texts)
        http.headers["X-Request-ID"] = "large"
        score(http, *LARGE)
        for name, path, body in calls:
            http.headers["X-Request-ID"] = name
            assert http.post(path, json=body).status_code == 200
    found: Stored = {}
    for row in stored_rows(folder):
        found.setdefault(row["request_id"], []).append(row)
    return found


@pytest.mark.slow
def test_texts_are_stored_where_the_operator_asks_for_them(stored: Stored) -> None:
    [row, _] = stored["text"]
    assert (row["completion"], row["prompt"]) == (f"{SECRET}: 2", SECRET)
    assert (row["reference"], row["extracted"]) == ('{"answer":"2"}', "2")


@pytest.mark.slow
def test_large_requests_and_other_protocols_are_stored(stored: Stored) -> None:
    large = [row for row in stored["large"] if row["verifier"] == "accuracy"]
    assert sorted(row["completion"] for row in large) == sorted(LARGE)
    assert r"\boxed{7}" in {row["completion"] for row in stored["openrlhf"]}


@pytest.mark.slow
def test_calls_with_one_id_have_records_of_their_own(stored: Stored) -> None:
    assert len(stored["twice"]) == 4
    assert len({row["record_id"] for row in stored["twice"]}) == 2


@pytest.mark.slow
def test_programs_that_are_not_judged_are_not_stored(stored: Stored) -> None:
    assert stored.keys() == {"text", "twice", "large", "openrlhf", "own"}
    assert {row["verifier"] for row in stored["text"]} == {"accuracy", "format"}


@pytest.mark.slow
def test_groups_with_verifiers_of_their_own_keep_their_places(stored: Stored) -> None:
    places = {
        (row["group_index"], row["completion_index"], row["verifier"]) for row in stored["own"]
    }
    assert places == {(0, 0, "accuracy"), (1, 0, "format"), (1, 1, "format"), (2, 0, "accuracy")}


@pytest.mark.slow
def test_a_killed_service_loses_nothing_that_its_writer_has(tmp_path: Path) -> None:
    """The writer outlives the service by as long as it needs."""
    with storing(tmp_path / "store", *LATE) as (http, service):
        score(http, "2", "3")
        writer = writer_of(service)
        assert stored_rows(tmp_path / "store") == []
        os.kill(service, signal.SIGKILL)
        wait_until(lambda: not Path(f"/proc/{writer}/exe").exists() or _is_dead(writer))
    assert len(stored_rows(tmp_path / "store")) == 4


def _is_dead(pid: int) -> bool:
    try:
        return ") Z " in Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_writer_killed_at_any_moment_loses_no_file_and_is_replaced(
    tmp_path: Path, seed: int
) -> None:
    chosen = random.Random(seed)
    folder = tmp_path / "store"
    with storing(folder, "--store-flush-seconds", "0.005") as (http, service):
        kills = 3
        for number in range(300):
            score(http, f"It is {number}.", number=number)
            if kills and chosen.random() < 0.02:
                written = counted(http, "written")
                with_writer = [pid for pid in tree(service) if _is_writer(pid)]
                for pid in with_writer:
                    os.kill(pid, signal.SIGKILL)
                    kills -= 1
                assert len(stored_rows(folder)) >= written
        wait_until(lambda: any(map(_is_writer, tree(service))))
        last = counted(http, "written")
        score(http, "the last")
        wait_until(lambda: _scored_again(http, last))
        counts = [counted(http, result) for result in ("written", "lost", "no_writer")]
    rows = stored_rows(folder)
    # A writer that dies between a file and its report has stored what counts as lost.
    assert counts[0] <= len(rows)
    assert {row["reason"] for row in rows if row["verifier"] == "accuracy"} <= {
        "equal",
        "different",
        "no_answer",
    }


def _scored_again(http: httpx.Client, last: float) -> bool:
    score(http, "the last")
    return counted(http, "written") > last


def _is_writer(pid: int) -> bool:
    try:
        return store_module.WRITER_MODULE.encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.slow
def test_a_full_disk_fails_no_request(tmp_path: Path) -> None:
    """A folder that has become a file refuses every write, root's too."""
    folder = tmp_path / "store"
    with storing(folder, *SOON) as (http, _):
        folder.rmdir()
        folder.write_text("")
        score(http, "2")
        wait_until(lambda: counted(http, "lost") == 2)
        folder.unlink()
        folder.mkdir()
        score(http, "3")
        wait_until(lambda: counted(http, "written") == 2)


@pytest.mark.slow
def test_beyond_the_rate_verdicts_are_dropped_and_counted(tmp_path: Path) -> None:
    with storing(tmp_path / "store", *LATE, "--store-max-rate", "0.4") as (http, _):
        score(http, "2", "3")  # four verdicts, which are the burst of ten seconds
        score(http, "4")
        assert counted(http, "rate") == 2
    assert len(stored_rows(tmp_path / "store")) == 4


def options(folder: Path) -> StoreOptions:
    return StoreOptions(folder, "hashes", 2**30, None, max_rate=1e9, flush_seconds=1e5)


def encoded_record() -> bytes:
    """A record of one verdict, as the service sends it."""
    verdict = msgspec.structs.replace(RIGHT, details=msgspec.Raw(b"null"))
    return msgspec.json.encode(record(completion("2", verdict, keep=False)))


def test_a_queue_that_is_full_drops_and_never_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = encoded_record()
    monkeypatch.setattr(store_module, "MAX_QUEUE_BYTES", 100 * len(body))

    async def fill() -> VerdictStore:
        async with VerdictStore(options(tmp_path)).running() as store:
            for _ in range(100_000):  # without a pause, in which the loop could send
                store.put(body, 1)
        return store

    store = asyncio.run(fill())
    assert store.num_verdicts["queue_full"] > 0
    assert store.num_verdicts["written"] == len(stored_rows(tmp_path)) > 0
    assert sum(store.num_verdicts.values()) == 100_000


def test_a_bad_record_is_lost_alone(tmp_path: Path) -> None:
    """One is no JSON, one has a number that no column holds, and one lacks a verdict."""
    sound = encoded_record()
    found = msgspec.json.decode(sound)
    found[-1][0][2][0][3] = 2**63
    huge = msgspec.json.encode(found)
    found[-1][0][2][0][3], found[-1][0][2][0][1] = None, []
    without_verdict = msgspec.json.encode(found)

    async def run() -> VerdictStore:
        async with VerdictStore(options(tmp_path)).running() as store:
            for body in (sound, b"{", sound, huge, sound, without_verdict):
                store.put(body, 1)
        return store

    counts = asyncio.run(run()).num_verdicts
    assert len(stored_rows(tmp_path)) == 3
    assert (counts["written"], counts["lost"]) == (3, 3)


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """A limit on open files that lets a descriptor have a number over 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_descriptors")
def test_a_writer_reads_from_a_descriptor_of_any_number(tmp_path: Path) -> None:
    """It has the number of the service's, which may have thousands of connections."""
    body = encoded_record()
    ours, theirs = socket.socketpair()
    with theirs, socket.socket(fileno=fcntl.fcntl(theirs, fcntl.F_DUPFD, 1025)) as connection:
        with ours:
            ours.sendall(frames.pack((1).to_bytes(COUNT_BYTES, "big") + body))
        writer_options = WriterOptions(str(tmp_path), 2**30, None, flush_seconds=1e9)
        Writer(writer_options, connection).run()
    assert len(stored_rows(tmp_path)) == 1


def test_a_store_whose_process_meets_a_bug_keeps_no_service_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(store: VerdictStore, descriptor: int) -> None:
        raise RuntimeError("no process today")

    monkeypatch.setattr(VerdictStore, "_start", start)

    async def run() -> None:
        async with VerdictStore(options(tmp_path)).running():
            raise AssertionError("it runs")

    with pytest.raises(RuntimeError, match="no process today"):
        asyncio.run(run())


@pytest.mark.filterwarnings("ignore:subprocess .* is still running:ResourceWarning")
def test_at_its_end_a_store_leaves_a_slow_writer_to_write_what_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(store_module, "CLOSE_SECONDS", 0.0)
    body = encoded_record()

    async def run() -> VerdictStore:
        async with VerdictStore(options(tmp_path)).running() as store:
            for _ in range(10):  # they fit into the socket, and the writer has not started yet
                store.put(body, 1)
        return store

    assert asyncio.run(run()).num_verdicts["lost"] == 10
    assert "10 verdicts were not written within 0 s" in caplog.text
    wait_until(lambda: len(stored_rows(tmp_path)) == 10)


def test_after_its_end_a_store_counts_what_it_drops(tmp_path: Path) -> None:
    async def run() -> VerdictStore:
        async with VerdictStore(options(tmp_path)).running() as store:
            pass
        store.put(b"{}", 3)
        return store

    assert asyncio.run(run()).num_verdicts["no_writer"] == 3


@pytest.mark.slow
def test_without_the_setting_nothing_is_stored(http: httpx.Client) -> None:
    assert "verifier_store" not in http.get("/metrics").text


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="the folder cannot be made"):
        Settings(store=tmp_path / "file" / "store")


@pytest.mark.slow
def test_a_missing_package_is_named(tmp_path: Path) -> None:
    script = (
        "import importlib.util, sys; importlib.util.find_spec = lambda name: None;"
        "from verifier_service.cli import run;"
        f"run(['serve', '--store', {str(tmp_path / 'store')!r}])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 2
    assert "pip install 'reward-verifier[store]'" in result.stderr
