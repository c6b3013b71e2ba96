"""The audit: planted wrong verdicts, their honest twins, run findings, labels, shapes of logs."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.logged_runs import write_run
from tests.verdict_store.stores import RIGHT, WRONG, completion, record, write_store
from verifier_service.audit.audit import Audit
from verifier_service.audit.command import summary_text
from verifier_service.audit.labels import (
    EstimatedShare,
    LabelledVerdict,
    Strata,
    quality_of,
    quality_text,
)
from verifier_service.audit.page import page
from verifier_service.audit.run_findings import reasons_over_time, run_findings
from verifier_service.audit.scored_rows import ScoredRow, SourceVerdict, main_source, read_scored
from verifier_service.audit.second_opinions import Opinions
from verifier_service.audit.suspicions import DoubtedRow, Suspicion, SuspicionKind, doubted_rows
from verifier_service.cli import run
from verifier_service.console import BadInput
from verifier_service.verdict_store.records import StoredVerifier
from verifier_service.verdict_store.stored_files import write_file

KINDS = SuspicionKind


def scored(
    index: int,
    text: str,
    accepted: bool | None,
    *,
    answers: tuple[str, ...] = ("12",),
    prompt: str = "",
    group: int | None = None,
    step: int | None = None,
    truncated: bool = False,
    **others: float,
) -> ScoredRow:
    verdicts = {name: SourceVerdict(score) for name, score in others.items()}
    verdicts["accuracy"] = SourceVerdict(None if accepted is None else float(accepted))
    key = (index,) if group is None else (group,)
    return ScoredRow(index, prompt, answers, text, verdicts, key, step, truncated)


def kinds_of(row: ScoredRow, opinion: Opinions | None = None) -> set[SuspicionKind]:
    found = doubted_rows([row], "accuracy", {row.index: opinion or Opinions()})
    return {one.kind for each in found for one in each.suspicions}


BOX = r"We add them up: \boxed{12}"


@pytest.mark.parametrize(
    ("row", "opinion", "kind"),
    [
        (scored(0, BOX, False), Opinions(rules=True), KINDS.RULES_ACCEPT),
        (scored(0, BOX, False), Opinions(math_verify=True), KINDS.MATH_VERIFY_ACCEPTS),
        (scored(0, BOX, False), Opinions(), KINDS.SAME_TEXT),
        (scored(0, "So the sum is 12.", False), Opinions(), KINDS.REFERENCE_AT_THE_END),
        (scored(0, r"\boxed{12.1}", False), Opinions(answer="12.1"), KINDS.CLOSE_NUMBER),
        (scored(0, BOX, True), Opinions(rules=False), KINDS.RULES_REFUSE),
        (scored(0, BOX, True), Opinions(math_verify=False), KINDS.MATH_VERIFY_REFUSES),
        (scored(0, r"\boxed{11} \boxed{12}", True), Opinions(), KINDS.HEDGED),
        (scored(0, r"\boxed{11 or 12}", True), Opinions(), KINDS.HEDGED),
        (scored(0, BOX, True, truncated=True), Opinions(), KINDS.TRUNCATED),
        (
            scored(
                0,
                "what is the sum of five and seven",
                True,
                prompt="what is the sum of five and seven?",
            ),
            Opinions(),
            KINDS.RESTATED,
        ),
    ],
)
def test_a_doubtful_verdict_is_named(
    row: ScoredRow, opinion: Opinions, kind: SuspicionKind
) -> None:
    assert kind in kinds_of(row, opinion)


@pytest.mark.parametrize(
    ("row", "opinion"),
    [
        (scored(0, BOX, True), Opinions(rules=True, math_verify=True, answer="12")),
        (scored(0, r"First \boxed{12}, so \boxed{12}", True), Opinions(rules=True)),
        (scored(0, r"\boxed{13}", False), Opinions(rules=False, math_verify=False, answer="13")),
        (scored(0, r"Of 12 eggs 7 are left: \boxed{7}", False, answers=("5",)), Opinions()),
        (scored(0, BOX, None), Opinions(rules=True)),
        (
            scored(
                0,
                "The sum of them is 12, since 5 and 7 make it",
                True,
                prompt="what is five plus seven, please?",
            ),
            Opinions(rules=True),
        ),
    ],
)
def test_an_honest_twin_is_not_named(row: ScoredRow, opinion: Opinions) -> None:
    assert kinds_of(row, opinion) == set()


def test_a_majority_against_the_reference_is_named_and_a_minority_is_not() -> None:
    rows = [scored(index, "x", False, group=1) for index in range(6)]
    answers = ["7", "7", "7", "7", "3", "4"]
    opinions = {index: Opinions(answer=one) for index, one in enumerate(answers)}
    found = doubted_rows(rows, "accuracy", opinions)
    assert {one.row.index for one in found} == {0, 1, 2, 3}
    assert {each.kind for one in found for each in one.suspicions} == {KINDS.MAJORITY}


def test_an_accepted_answer_unlike_the_other_accepted_ones_is_named() -> None:
    rows = [scored(index, "x", True, group=1) for index in range(4)]
    answers = ["7", "7", "7", "8"]
    opinions = {index: Opinions(answer=one) for index, one in enumerate(answers)}
    [found] = doubted_rows(rows, "accuracy", opinions)
    assert (found.row.index, found.suspicions[0].kind) == (3, KINDS.ALONE_AMONG_RIGHT)


@pytest.mark.parametrize(
    ("answer", "kinds"), [("7.0", set()), ("$7$", set()), ("0.7", {KINDS.ALONE_AMONG_RIGHT})]
)
def test_answers_of_one_number_are_one_answer(answer: str, kinds: set[SuspicionKind]) -> None:
    rows = [scored(index, "x", True, group=1) for index in range(4)]
    opinions = {index: Opinions(answer=one) for index, one in enumerate(["7", "7", "7", answer])}
    found = doubted_rows(rows, "accuracy", opinions)
    assert {each.kind for one in found for each in one.suspicions} == kinds


def test_a_decimal_is_not_the_text_of_a_whole_number() -> None:
    row = scored(0, r"\boxed{1.2}", False)
    assert kinds_of(row, Opinions(answer="1.2")) == set()


def test_a_short_answer_without_tags_is_odd_among_long_tagged_ones() -> None:
    long = "<think>" + "we think " * 100 + r"</think> \boxed{12}"
    rows = [scored(index, long, True) for index in range(20)] + [scored(20, "12", True)]
    [found] = doubted_rows(rows, "accuracy", {})
    assert {one.kind for one in found.suspicions} == {KINDS.SHORT, KINDS.TAGLESS}


def test_equal_doubts_do_not_fill_the_list() -> None:
    rows = [scored(index, BOX, False) for index in range(10)]
    other = scored(10, "So the sum is 12.", False)
    found = doubted_rows([*rows, other], "accuracy", {10: Opinions(answer="twelve")})
    assert [one.row.index for one in found[:4]] == [0, 1, 2, 10]


def steps(rows: int = 40) -> list[ScoredRow]:
    """A run whose accuracy falls while its format rises and its completions grow."""
    return [
        scored(
            index,
            "word " * (10 + index),
            index % 4 > 4 * index // rows,
            step=index,
            format=index / rows,
            tags=1.0,
        )
        for index in range(rows)
    ]


def test_findings_about_a_run_are_named() -> None:
    found = {one.kind: one.message for one in run_findings(steps(), "accuracy", {})}
    assert found.keys() == {"saturated", "rises_alone", "length"}
    assert "tags gives 1 to 100.0%" in found["saturated"]
    assert "format rises by" in found["rises_alone"]


def test_a_sound_run_has_no_findings() -> None:
    rows = [
        scored(index, "word " * (10 + index % 7), index % 3 == 0, step=index, group=index // 6)
        for index in range(60)
    ]
    assert run_findings(rows, "accuracy", {}) == []


def test_groups_without_variance_and_disagreement_are_named() -> None:
    rows = [scored(index, "x", True, group=index // 4) for index in range(20)]
    opinions = {index: Opinions(rules=index > 2, math_verify=True) for index in range(20)}
    found = {one.kind: one.message for one in run_findings(rows, "accuracy", opinions)}
    assert "in 5 of 5 groups" in found["no_variance"]
    assert "accuracy and the rules of accuracy disagree about 3 of 20" in found["disagreement"]


def test_reasons_are_counted_by_quarters_of_the_steps() -> None:
    rows = [scored(index, "x", index < 4, step=index) for index in range(8)]
    assert reasons_over_time(rows, "accuracy") == [
        ("1", [1.0, 1.0, 0.0, 0.0]),
        ("0", [0.0, 0.0, 1.0, 1.0]),
    ]


def write_lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("name", ["runs/frist", "frist.jsonl"])
def test_a_name_of_nothing_here_is_not_looked_for_on_the_hub(tmp_path: Path, name: str) -> None:
    missing = tmp_path / name
    with pytest.raises(BadInput, match=rf"{missing}: no such file or folder"):
        read_scored(missing)
    with pytest.raises(BadInput, match=rf"{missing}: no such file or folder"):
        read_scored(write_lines(tmp_path / "scored.jsonl", {}), missing)


def test_a_run_of_the_trainer_is_read(tmp_path: Path) -> None:
    rows = read_scored(write_run(tmp_path / "run", steps=3, groups=2, group_size=4))
    assert len(rows) == 24
    assert main_source(rows, None) == "accuracy"
    assert rows[0].answers == (rows[0].answers[0],)
    assert len({row.group for row in rows}) == 6


def test_rows_of_verl_are_read(tmp_path: Path) -> None:
    row = {"input": "2+2?", "output": "It is 4.", "gts": "4", "score": 1.0, "step": 3}
    [found] = read_scored(write_lines(tmp_path / "3.jsonl", row))
    assert (found.prompt, found.completion, found.answers) == ("2+2?", "It is 4.", ("4",))
    assert (found.step, found.is_accepted(main_source([found], None))) == (3, True)


def test_rows_of_trl_are_read(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    chat = [{"role": "assistant", "content": "It is 4."}]
    row = {
        "step": 3,
        "prompt": "2+2?",
        "completion": chat,
        "accuracy_reward": 0.0,
        "format_reward": 1.0,
        "advantage": -1.0,
        "solution": "4",
    }
    parquet.write_table(arrow.Table.from_pylist([row]), tmp_path / "completions_00003.parquet")
    [found] = read_scored(tmp_path)
    assert main_source([found], None) == "accuracy_reward"
    assert (found.completion, found.answers, set(found.verdicts)) == (
        "It is 4.",
        ("4",),
        {"accuracy_reward", "format_reward"},
    )


def test_a_store_is_read_a_completion_for_each_of_its_questions(tmp_path: Path) -> None:
    folder = write_store(tmp_path, record(completion("2", RIGHT), completion("3", WRONG)))
    rows = read_scored(folder)
    assert [(row.completion, row.is_accepted("accuracy")) for row in rows] == [
        ("2", True),
        ("3", False),
    ]
    assert (rows[0].answers, rows[0].group) == (("2",), rows[1].group)


def test_calls_with_one_id_of_their_client_are_groups_of_their_own(tmp_path: Path) -> None:
    records = [record(completion(text, RIGHT), reference=None) for text in ("2", "3")]
    assert records[0].request_id == records[1].request_id
    write_file(tmp_path, records, "test.0")
    rows = read_scored(tmp_path)
    assert [row.completion for row in rows] == ["2", "3"]
    assert rows[0].group != rows[1].group


def test_a_completion_that_was_too_long_to_keep_is_left_out(tmp_path: Path) -> None:
    given = [completion("2", RIGHT), completion("3", WRONG, keep=False)]
    assert [row.completion for row in read_scored(write_store(tmp_path, record(*given)))] == ["2"]


@pytest.mark.parametrize(
    ("num_doubted", "num", "last"),
    [
        (30, 50, "... and 20 more: --report and --out have the first 50"),
        (30, 5, "... and 25 more: raise --num"),
        (8, 5, "... and 3 more: raise --num"),
        (10, 50, None),
    ],
)
def test_doubted_verdicts_that_are_not_shown_are_counted(
    num_doubted: int, num: int, last: str | None
) -> None:
    row = ScoredRow(0, "", ("2",), "3", {}, (0,))
    doubted = [DoubtedRow(row, False, "3", ())] * num_doubted
    lines = summary_text(Audit("accuracy", 30, 0, 30, doubted, [], [], []), num).split("\n")
    assert lines[-1] == last or (last is None and lines[-1].startswith("  0.00 row 1 refused"))
    assert sum(line.startswith("  ") for line in lines) == min(num, num_doubted, 10)


HASHES = record(completion("2", RIGHT, keep=False), reference=None)


def test_a_store_of_hashes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="VERIFIER_STORE_TEXTS=text"):
        read_scored(write_store(tmp_path, HASHES))


def test_of_a_store_that_began_with_hashes_the_texts_are_read(tmp_path: Path) -> None:
    folder = write_store(tmp_path, HASHES, record(completion("3", WRONG)))
    assert [row.completion for row in read_scored(folder)] == ["3"]


def test_a_result_of_score_is_read_with_its_rows(tmp_path: Path) -> None:
    rows = write_lines(tmp_path / "rows.jsonl", {"answer": "2", "completions": ["2", "3"]})
    verdicts = [{"verdicts": {"accuracy": {"score": score, "reason": "x"}}} for score in (1, 0)]
    result = write_lines(tmp_path / "s.jsonl", {"index": 0, "completions": verdicts})
    assert [row.is_accepted("accuracy") for row in read_scored(result, rows)] == [True, False]
    with pytest.raises(BadInput, match="of `verifier-service score` also --rows"):
        read_scored(result)
    longer = write_lines(tmp_path / "o.jsonl", {"answer": "2", "completions": ["2"]})
    with pytest.raises(BadInput, match="row 1 differs"):
        read_scored(result, longer)


def test_a_source_is_named_where_several_may_be_meant() -> None:
    row = ScoredRow(0, "", (), "x", {"a": SourceVerdict(1), "b": SourceVerdict(1)}, ())
    with pytest.raises(BadInput, match=r"--source: name one of \['a', 'b'\]"):
        main_source([row], None)
    with pytest.raises(BadInput, match="no scores of 'c'"):
        main_source([row], "c")


def test_an_only_source_needs_no_name() -> None:
    assert main_source([ScoredRow(0, "", (), "x", {"reward": SourceVerdict(1)}, ())], None) == (
        "reward"
    )


def test_scores_without_steps_and_reasons_have_no_table() -> None:
    row = ScoredRow(0, "", (), "x", {"reward": SourceVerdict(1)}, ())
    assert reasons_over_time([row], "reward") == []


def test_the_page_has_each_row_once_and_a_label_counts_for_both_samples() -> None:
    rows = [
        DoubtedRow(ScoredRow(index, "", (), "x", {"score": SourceVerdict(1)}, ()), True, "x", ())
        for index in range(3)
    ]
    text = page("rows", Audit("score", 3, 3, 0, rows[:2], rows[1:], [], []), 50)
    shown = re.findall(r'"row": (\d+), "sample": "(\w+)"', text)
    assert sorted(shown) == [("1", "doubted"), ("2", "both"), ("3", "chance")]
    assert '"all_drawn": false' in text
    found = quality_of(Strata(3, 0), [LabelledVerdict(2, True, False, "both")])
    assert (found.precision.total, found.num_wrong_listed, found.num_listed) == (1, 1, 1)


def test_the_page_says_when_all_rows_were_drawn() -> None:
    row = DoubtedRow(ScoredRow(0, "", (), "x", {"score": SourceVerdict(1)}, ()), True, "x", ())
    assert '"all_drawn": true' in page("rows", Audit("score", 1, 1, 0, [], [row], [], []), 50)


@pytest.mark.slow
def test_the_command_lists_what_is_likely_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = {"answer": "1/2", "completion": r"\boxed{\frac{1}{2}}", "score": 1.0}
    wrong = {"answer": "1/2", "completion": r"It is \boxed{0.5}", "score": 0.0}
    path = write_lines(tmp_path / "scored.jsonl", *[right] * 5, wrong)
    out, report = tmp_path / "doubted.jsonl", tmp_path / "audit.html"
    with pytest.raises(SystemExit) as ended:
        run(["audit", str(path), "--out", str(out), "--report", str(report), "--workers", "1"])
    assert not ended.value.code
    assert "doubted: 1 refusals, 0 acceptances" in capsys.readouterr().out
    [line] = out.read_text().splitlines()
    found = json.loads(line)
    assert (found["row"], found["accepted"], found["answer"]) == (6, False, "0.5")
    assert found["why"][0]["kind"] == "rules_accept"
    assert report.exists()


def test_a_file_without_scores_says_what_is_expected(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_lines(tmp_path / "rows.jsonl", {"answer": "2", "completion": "2"})
    with pytest.raises(SystemExit) as ended:
        run(["audit", str(path)])
    assert ended.value.code == 2
    assert "no scored completions" in capsys.readouterr().err


def test_wilsons_interval_is_that_of_the_formula() -> None:
    low, high = EstimatedShare(8, 10).interval
    assert (round(low, 4), round(high, 4)) == (0.4902, 0.9433)
    assert EstimatedShare(0, 0).interval == (0.0, 1.0)


def test_labels_measure_the_verifier() -> None:
    drawn = [LabelledVerdict(index, True, index != 0, "chance") for index in range(10)]
    drawn += [LabelledVerdict(index, False, index == 10, "chance") for index in range(10, 20)]
    listed = [LabelledVerdict(20 + right, True, bool(right), "doubted") for right in (0, 1)]
    found = quality_of(Strata(900, 100), [*drawn, *listed])
    assert (found.precision.value, found.refusals_right.value) == (0.9, 0.9)
    assert found.recall is not None
    assert round(found.recall[0], 4) == round(810 / 820, 4)
    assert found.recall[1] < found.recall[0] < found.recall[2]
    assert (found.num_wrong_listed, found.num_listed) == (1, 2)
    assert "precision: 90.0%" in quality_text(found)


def test_without_both_samples_there_is_no_recall() -> None:
    found = quality_of(Strata(9, 1), [LabelledVerdict(0, True, True, "chance")])
    assert found.recall is None
    assert "label accepted and refused rows" in quality_text(found)


def test_labels_of_another_file_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_lines(tmp_path / "labels.jsonl", {"row": 1})
    with pytest.raises(SystemExit):
        run(["audit", str(path), "--labels", str(path)])
    assert "no labels of an audit's page" in capsys.readouterr().err


def test_no_text_of_a_model_can_leave_its_place_in_the_page() -> None:
    row = scored(0, "</template><script>x()</script>&lt;\ud800", False)
    doubted = [DoubtedRow(row, False, "<b>", (Suspicion(KINDS.SAME_TEXT, "<i>"),))]
    text = page("<name>", Audit("accuracy", 1, 0, 1, doubted, [], [], []), 50)
    assert text.count("</script>") == 1
    assert text.count("</template>") == 1
    data = text.partition("<template")[2].partition("</template>")[0]
    assert "&" not in data
    assert "<b>" not in data


def test_a_page_that_cannot_be_written_is_told_before_anything_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "missing"
    with pytest.raises(SystemExit) as ended:
        run(["audit", str(tmp_path / "rows.jsonl"), "--report", str(folder / "page.html")])
    assert ended.value.code == 2
    assert f"{folder}: no such folder to write page.html in" in capsys.readouterr().err


@pytest.mark.parametrize("read", ["scores.jsonl", "rows.jsonl"])
def test_a_file_that_is_read_is_not_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], read: str
) -> None:
    scores = write_lines(tmp_path / "scores.jsonl", {"row": 1})
    rows = write_lines(tmp_path / "rows.jsonl", {"completion": "4", "answer": "4"})
    audit(scores, "--rows", str(rows), "--out", str(tmp_path / read), status=2)
    assert (
        f"{read} is read by this command: choose another file to write" in capsys.readouterr().err
    )


TOLERANT = '{"type":"accuracy","tolerance":0.01}'
NEAR = "We measure it. \\boxed{3.14}"


def audit(path: Path, *options: str, status: int = 0) -> None:
    with pytest.raises(SystemExit) as ended:
        run(["audit", str(path), "--workers", "1", *options])
    assert (ended.value.code or 0) == status


@pytest.mark.slow
def test_the_second_opinion_has_the_options_of_a_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    verifier = StoredVerifier("accuracy", "accuracy", TOLERANT, False)
    one = record(completion(NEAR, RIGHT), reference='{"answer":"3.14159"}', verifiers=(verifier,))
    audit(write_store(tmp_path / "store", one))
    assert "the rules of accuracy" not in capsys.readouterr().out


@pytest.mark.slow
def test_the_second_opinion_can_be_given_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = {"completion": NEAR, "answer": "3.14159", "score": 1.0}
    path = write_lines(tmp_path / "rows.jsonl", row)
    audit(path)
    assert "the rules of accuracy refuse it" in capsys.readouterr().out
    audit(path, "--verifier", TOLERANT)
    assert "the rules of accuracy" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("accuracy", "--verifier: "),
        ('{"type": "format"}', "--verifier: expected the type accuracy, found format"),
        ('{"type": "accuracy", "tolerence": 1}', "did you mean 'tolerance'?"),
    ],
)
def test_options_of_no_second_opinion_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: str, told: str
) -> None:
    path = write_lines(tmp_path / "rows.jsonl", {"completion": "4", "answer": "4", "score": 1})
    audit(path, "--verifier", given, status=2)
    assert told in capsys.readouterr().err
