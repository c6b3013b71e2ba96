"""Judging a store again: what changed, what did not, and what cannot be judged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.lean_server import Lean, serving_lean
from tests.verdict_store.stores import RIGHT, WRONG, completion, record, write_store
from verifier_service.cli import run
from verifier_service.verdict_store.records import StoredVerdict, StoredVerifier
from verifier_service.verdict_store.stored_files import write_file

FEW = ("--workers", "1", "--enabled", "accuracy,format")


@dataclass(frozen=True)
class Result:
    status: int
    out: str
    err: str


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> Result:
    with pytest.raises(SystemExit) as ended:
        run([*arguments])
    told = capsys.readouterr()
    return Result(int(ended.value.code or 0), told.out, told.err)


def replayed(capsys: pytest.CaptureFixture[str], store: Path, *more: str) -> Result:
    return command(capsys, "replay", str(store), *FEW, *more)


@pytest.mark.slow
def test_the_same_version_gives_the_same_verdicts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = write_store(tmp_path / "s", record(completion("2", RIGHT), completion("3", WRONG)))
    result = replayed(capsys, store)
    assert result.status == 0
    assert "accuracy: 2 judged again, 2 as before, other scores: 0" in result.out


@pytest.mark.slow
def test_a_verdict_of_an_older_version_is_listed_with_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = write_store(tmp_path / "s", record(completion("It is 2.", WRONG)))
    result = replayed(capsys, store, "--out", str(tmp_path / "changes.jsonl"))
    assert result.status == 1
    assert "1 x different 0 -> equal 1" in result.out
    [line] = (tmp_path / "changes.jsonl").read_text().splitlines()
    change = json.loads(line)
    assert (change["before"]["score"], change["after"]["score"]) == (0.0, 1.0)
    assert (change["before"]["extracted"], change["after"]["extracted"]) == ("3", "2")
    assert change["explanation"]["stage"]


@pytest.mark.slow
def test_a_reason_alone_is_listed_and_is_no_failure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict = StoredVerdict("scored", 0.0, "no_answer", 0.001)
    store = write_store(tmp_path / "s", record(completion("It is 3.", verdict)))
    result = replayed(capsys, store)
    assert result.status == 0
    assert "1 x no_answer 0 -> different 0  (the reason alone)" in result.out


@pytest.mark.slow
def test_equal_questions_are_judged_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = [record(completion("2", RIGHT), completion("2", RIGHT)) for _ in range(3)]
    result = replayed(capsys, write_store(tmp_path / "s", *again))
    assert "accuracy: 1 judged again" in result.out
    assert "verdicts stored: 6, of them repeated: 5" in result.out


@pytest.mark.slow
def test_a_store_of_hashes_says_that_it_cannot_be_judged_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hashes = record(completion("2", RIGHT, keep=False), reference=None)
    result = replayed(capsys, write_store(tmp_path / "s", hashes))
    assert result.status == 2
    assert "only its hashes are stored; --store-texts text keeps" in result.err


@pytest.mark.slow
def test_what_cannot_be_judged_is_counted_beside_what_can(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gone = StoredVerifier("accuracy", "old", '{"type":"accuracy","gone_option":true}', False)
    late = StoredVerdict("failed", None, "deadline", 0.0)
    store = write_store(
        tmp_path / "s",
        record(completion("2", RIGHT)),
        record(completion("4", RIGHT), verifiers=(gone,)),
        record(completion("5", late)),
        record(completion("6", RIGHT, keep=False), reference=None),
    )
    result = replayed(capsys, store)
    assert result.status == 0
    assert "accuracy: 1 judged again, 1 as before" in result.out
    assert "1 not judged again: this version has no such verifier or option" in result.out
    assert "1 not judged again: it had failed" in result.out
    assert "1 not judged again: only its hashes are stored" in result.out


STATED = '{"statement":"theorem goal : 1 + 1 = 2 := by sorry","preamble":"import Mathlib"}'
PROOF = StoredVerifier("proof", "proof", '{"type":"proof","language":"lean"}', False)
JUDGE = StoredVerifier("answer_judge", "judge", '{"type":"answer_judge"}', False)


def store_of_proofs(folder: Path) -> Path:
    proved = StoredVerdict("scored", 1.0, "proved", 0.001)
    proof = "```lean4\ntheorem goal : 1 + 1 = 2 := by\n  rfl\n```"
    one = record(completion(proof, proved), reference=STATED, verifiers=(PROOF,))
    return write_store(folder, one)


def test_a_proof_in_lean_is_judged_by_the_server_of_the_settings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = store_of_proofs(tmp_path / "s")
    lean = Lean()
    with serving_lean(lean) as url:
        enabled = ("--workers", "1", "--enabled", "proof", "--lean-url", url)
        result = command(capsys, "replay", str(store), *enabled)
    assert result.status == 0
    assert "proof: 1 judged again, 1 as before, other scores: 0" in result.out


@pytest.mark.slow
def test_a_checker_or_model_that_is_absent_changes_no_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = store_of_proofs(tmp_path / "s")
    enabled = ("--workers", "1", "--enabled", "proof,answer_judge,accuracy")
    alone = command(capsys, "replay", str(store), *enabled)
    assert alone.status == 2
    assert "nothing can be judged again: its checker or model is absent now" in alone.err
    judged = record(completion("It is a pair.", WRONG), verifiers=(JUDGE,))
    write_store(tmp_path / "other", record(completion("2", RIGHT)), judged)
    result = command(capsys, "replay", str(tmp_path / "other"), *enabled)
    assert result.status == 0
    assert "1 not judged again: its checker or model is absent now" in result.out
    assert "accuracy: 1 judged again, 1 as before" in result.out


@pytest.mark.slow
def test_a_text_that_was_too_long_to_keep_is_counted_as_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long_reference = record(completion("3", RIGHT), reference=None)
    long_completion = record(completion("2", RIGHT, keep=False))
    store = write_store(tmp_path / "s", long_reference, long_completion)
    result = replayed(capsys, store)
    assert "2 not judged again: the store keeps no completion and no reference of" in result.out


@pytest.mark.slow
def test_equal_completions_of_a_group_that_are_far_apart_are_judged_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = StoredVerdict("scored", 0.5, "compared", 0.001)
    pairwise = StoredVerifier("pairwise", "pairwise", '{"type":"pairwise"}', True)
    many = [completion("2", half) for _ in range(257)]
    store = write_store(tmp_path / "s", record(*many, verifiers=(pairwise,)))
    flags = ("--workers", "1", "--enabled", "pairwise")
    assert "of them repeated: 0" in command(capsys, "replay", str(store), *flags).out


@pytest.mark.slow
def test_calls_with_one_id_of_their_client_are_judged_each_by_its_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = record(completion("2", RIGHT))
    other = record(completion("3", RIGHT), reference='{"answer":"3"}')
    assert one.request_id == other.request_id
    write_file(tmp_path, [one, other], "test.0")
    result = replayed(capsys, tmp_path)
    assert "accuracy: 2 judged again, 2 as before, other scores: 0" in result.out


@pytest.mark.slow
def test_verifiers_and_times_can_be_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = write_store(tmp_path / "s", record(completion("2", RIGHT)))
    assert replayed(capsys, store, "--since", "2026-11-24").status == 2
    assert replayed(capsys, store, "--since", "2026-11-22").status == 0
    assert replayed(capsys, store, "--verifier", "format").status == 2
    misspelt = replayed(capsys, store, "--verifier", "acuracy")
    assert "no verifier 'acuracy'; did you mean 'accuracy'" in misspelt.err


@pytest.mark.slow
def test_an_empty_store_says_what_fills_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = replayed(capsys, tmp_path)
    assert result.status == 2
    assert f"VERIFIER_STORE={tmp_path} keeps those of `serve`" in result.err


def query(capsys: pytest.CaptureFixture[str], store: Path, sql: str, *more: str) -> Result:
    return command(capsys, "query", sql, "--store", str(store), *more)


def test_a_query_reads_all_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [record(completion("2", RIGHT)), record(completion("3", WRONG))]
    store = write_store(tmp_path / "it's", *records, records[0])
    sql = "SELECT reason, count(*) AS number FROM verdicts GROUP BY reason ORDER BY reason"
    assert query(capsys, store, sql).out.splitlines() == [
        "reason     number",
        "---------  ------",
        "different  1",
        "equal      2",
    ]
    assert query(capsys, store, sql, "--format", "csv").out.splitlines()[1] == "different,1"
    lines = query(capsys, store, sql, "--format", "jsonl").out.splitlines()
    assert json.loads(lines[1]) == {"reason": "equal", "number": 2}


def test_an_empty_store_has_no_rows_and_all_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert query(capsys, tmp_path, "SELECT count(*) AS n FROM verdicts").out.split()[-1] == "0"
    assert "request_hash" in query(capsys, tmp_path, "DESCRIBE verdicts").out


@pytest.mark.parametrize("sql", ["", " ", "/* nothing */", ";"])
def test_a_query_without_sql_is_told(
    tmp_path: Path, sql: str, capsys: pytest.CaptureFixture[str]
) -> None:
    result = query(capsys, tmp_path, sql)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith("there is no query: expected SQL")


def test_lines_of_json_have_numbers_and_no_nan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sql = "SELECT 1.5 AS a, 'nan'::DOUBLE AS b, {'x': [2.5]} AS c, DATE '2026-01-02' AS d"
    [line] = query(capsys, tmp_path, sql, "--format", "jsonl").out.splitlines()
    assert line == '{"a": 1.5, "b": null, "c": {"x": [2.5]}, "d": "2026-01-02"}'


def test_a_wrong_query_is_told_as_the_database_tells_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = query(capsys, tmp_path, "SELECT reson FROM verdicts")
    assert result.status == 2
    assert "reson" in result.err
    assert "Traceback" not in result.err


def test_signs_that_steer_a_terminal_are_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = write_store(tmp_path / "s", record(completion("\x1b[31mred", RIGHT)))
    assert "\x1b" not in query(capsys, store, "SELECT completion FROM verdicts").out
