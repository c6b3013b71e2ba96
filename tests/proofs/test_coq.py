"""Proofs in Coq: right, wrong, cheating and endless ones, each by Coq itself in the sandbox."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.growth import assert_linear
from tests.proofs.proof_rows import CHEATS, THEOREMS, CoqTester, coq_tester, reference_of_cheat
from verifier_service.code.toolchains.toolchain import ToolchainError
from verifier_service.proofs.coq_guards import check_commands
from verifier_service.proofs.coq_report import UnreadReport, axioms_used, parts_of_summary
from verifier_service.proofs.coq_text import TextProblem, sentences
from verifier_service.proofs.coq_toolchain import coq_toolchain
from verifier_service.proofs.refusal import Refused
from verifier_service.verdict import Outcome
from verifier_service.verifier import Unverifiable

ONE = {"statement": "Theorem goal : 1 = 1."}
ENDLESS_SECONDS = 3.0
BY_TEXT = ("not_allowed", "incomplete")


@pytest.fixture(scope="module")
def coq() -> Iterator[CoqTester]:
    try:
        coq_toolchain()
    except ToolchainError as error:
        pytest.skip(str(error))
    with coq_tester() as tester:
        yield tester


SAMPLE = 12
SHARES = [
    pytest.param(SAMPLE, marks=pytest.mark.quick, id="sample"),
    pytest.param(1, marks=pytest.mark.slow, id="all"),
]


def test_there_are_sixty_theorems() -> None:
    assert len(THEOREMS) == 60


@pytest.mark.parametrize("share", SHARES)
def test_a_right_proof_is_proved_and_a_wrong_one_rejected(coq: CoqTester, share: int) -> None:
    reasons = {}
    for name in list(THEOREMS)[::share]:
        row = THEOREMS[name]
        found = [coq.verdict(row, row[kind]) for kind in ("right", "wrong")]
        reasons[name] = [(one.score, one.reason) for one in found]
    expected = [(1.0, "proved"), (0.0, "rejected")]
    assert {name: found for name, found in reasons.items() if found != expected} == {}


@pytest.mark.parametrize("share", SHARES)
def test_a_cheat_is_refused_and_its_honest_twin_proved(coq: CoqTester, share: int) -> None:
    misjudged = {}
    for name in list(CHEATS)[::share]:
        row = CHEATS[name]
        is_endless = row["reason"] == "time_limit_exceeded"
        options = {"cpu_seconds": ENDLESS_SECONDS} if is_endless else {}
        false, true = (reference_of_cheat(row, is_true=is_true) for is_true in (False, True))
        cheat, twin = coq.verdict(false, row["cheat"], **options), coq.verdict(true, row["twin"])
        found = (cheat.score, cheat.reason, twin.score, twin.reason)
        if found != (0.0, row["reason"], 1.0, "proved"):
            misjudged[name] = (cheat, twin)
    assert misjudged == {}


@pytest.mark.parametrize("share", SHARES)
def test_what_coq_says_suffices_where_the_text_is_not_read(
    coq: CoqTester, share: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A grammar that a completion changes under our reading gains it nothing."""
    monkeypatch.setattr("verifier_service.proofs.coq_judge.check_commands", lambda *_: None)
    by_text = [name for name, row in CHEATS.items() if row["reason"] in BY_TEXT]
    accepted = {
        name: found
        for name in by_text[::share]
        if (
            found := coq.verdict(
                reference_of_cheat(CHEATS[name], is_true=False), CHEATS[name]["cheat"]
            )
        ).score
        != 0.0
    }
    assert accepted == {}


def test_unread_axioms_are_found_by_the_checker(
    coq: CoqTester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verifier_service.proofs.coq_judge.check_commands", lambda *_: None)
    false = reference_of_cheat({}, is_true=False)
    by_name = {
        name: coq.verdict(false, CHEATS[name]["cheat"]).reason
        for name in ("axiom", "unguarded_by_option", "admitted_lemma")
    }
    assert by_name == {
        "axiom": "axiom_used",
        "unguarded_by_option": "unsound",
        "admitted_lemma": "axiom_used",
    }


def test_a_proof_tells_its_checker_and_its_axioms(coq: CoqTester) -> None:
    row = THEOREMS["drinker"]
    verdict = coq.verdict(row, row["right"])
    assert verdict.details == {
        "by": f"coq {coq_toolchain().version}",
        "axioms": ["Classical_Prop.classic"],
    }
    strict = coq.verdict(row, row["right"], axioms=[])
    assert (strict.score, strict.reason) == (0.0, "axiom_used")


def test_axioms_of_the_reference_are_its_own_affair(coq: CoqTester) -> None:
    row = THEOREMS["parameters_of_the_reference"]
    assert coq.verdict(row, row["right"], axioms=[]).reason == "proved"


@pytest.mark.slow
def test_more_axioms_can_be_allowed(coq: CoqTester) -> None:
    reference = {
        "preamble": "Require Import ZArith Uint63.",
        "statement": "Theorem goal : forall i : int, (0 <= to_Z i < wB)%Z.",
    }
    found = coq.verdict(reference, "exact to_Z_bounded.")
    assert found.reason == "axiom_used"
    assert found.details is not None
    again = coq.verdict(reference, "exact to_Z_bounded.", axioms=found.details["axioms"])
    assert again.reason == "proved"


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({}, "reference.statement is needed; the reference is empty"),
        (
            {"statement": 3},
            "reference.statement: found a number, expected a text in Coq's language",
        ),
        ({"statement": "theorem goal : 1 = 1 := by rfl"}, "expected a sentence of Coq"),
        ({"statement": "Theorem goal : one = 1."}, "The reference one was not found"),
        ({"statement": "Theorem goal : 1 = 1.", "preamble": "Definition a := b."}, "The reference"),
        ({"statement": "Theorem goal : 1 = 1.", "preamble": "Section s."}, "reference.preamble"),
        ({"statement": "Theorem goal : (* 1 = 1."}, "a comment has no end"),
    ],
)
def test_a_reference_that_cannot_be_used_is_named(
    coq: CoqTester, reference: dict[str, object], message: str
) -> None:
    with pytest.raises(Unverifiable) as error:
        coq.verdict(reference, "reflexivity.")
    assert message in error.value.message


def test_a_statement_may_come_with_the_end_that_data_sets_give_it(coq: CoqTester) -> None:
    given = {"statement": "Theorem goal : 1 = 1.\nProof.\nAdmitted."}
    assert coq.verdict(given, "reflexivity.").reason == "proved"
    assert coq.verdict({"statement": "Theorem goal : 1 = 1"}, "reflexivity.").reason == "proved"


def test_a_completion_without_a_whole_block_has_no_proof(coq: CoqTester) -> None:
    for text in ("reflexivity.", "```coq\nreflexivity.", "<think>```coq\nreflexivity.\n```"):
        assert coq.verdict_on(ONE, text).reason == "no_proof"
    assert coq.verdict_on(ONE, "reflexivity.", part="completion").reason == "proved"


@pytest.mark.slow
def test_memory_is_limited(coq: CoqTester) -> None:
    deep = "Fixpoint f n := match n with 0 => nil | S k => app (f k) (f k) ++ cons k nil end."
    grows = f"Require Import List. Import ListNotations. {deep} Compute length (f 60)."
    assert coq.verdict(ONE, grows).reason == "memory_limit_exceeded"


def test_a_text_that_is_too_long_is_not_given_to_coq(coq: CoqTester) -> None:
    verdict = coq.verdict(ONE, "auto. " * 2**16)
    assert (verdict.score, verdict.reason) == (0.0, "too_large")


def refusal(text: str) -> str | None:
    try:
        check_commands(text, sentences(text))
    except (Refused, TextProblem) as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Axiom a : False.", "the command Axiom a : False."),
        ("- { Axiom a : False.", "the command Axiom a : False."),
        ("2: { Axiom a : False.", "the command Axiom a : False."),
        ("(* Axiom *) Lemma a : True.", None),
        ("(* (* *) Axiom a : b. *) Lemma a : True.", None),
        ('(* " *) " *) Axiom a : b.', "the command Axiom a : b."),
        ('idtac "Axiom. Axiom".', None),
        ("auto... Axiom a : b.", "the command Axiom a : b."),
        ('Notation "x .. y" := (cons x .. y). Axiom a : b.', "the command Axiom a : b."),
        ("Set Printing All.", None),
        ("Unset Guard  Checking.", "the command Unset Guard Checking."),
        ("Local Set   Implicit Arguments.", None),
        ("#[bypass_check(universes=yes)] Lemma a : True.", "the attribute bypass_check"),
        ('#[deprecated(note="bypass_check")] Lemma a : True.', None),
        ("Lemma a : True. (* open", "a comment has no end"),
        ('idtac "open', "a string has no end"),
        ("Variable a : nat.", "the command Variable a : nat. outside a section, as an axiom"),
        ("Section s. Module m. End m. Variable a : nat.", None),
    ],
)
def test_commands_are_found_wherever_coq_would(text: str, found: str | None) -> None:
    assert refusal(text) == found


@pytest.mark.parametrize("unit", ["(* ", '" ', "...x", "- ", "{ ", "#[a] ", "a. ", '(*"*)"*) '])
def test_reading_takes_linear_time(unit: str) -> None:
    assert_linear(refusal, unit)


def test_a_report_is_read_as_a_whole_or_not_at_all() -> None:
    assert axioms_used("Closed under the global context\n") == []
    for odd in ("", "Axioms:", "Axioms:\na is assumed to be guarded.", "Closed\nClosed"):
        with pytest.raises(UnreadReport):
            axioms_used(odd)
    with pytest.raises(UnreadReport):
        parts_of_summary("CONTEXT SUMMARY\n===\n\n* Theory: Set is impredicative\n")


def test_a_machine_without_coq_says_what_to_install(
    coq: CoqTester, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise ToolchainError("no coqc in /usr/bin: install it")

    monkeypatch.setattr("verifier_service.proofs.coq_toolchain.coq_toolchain", missing)
    with coq_tester() as tester:
        verdict = tester.verdict(ONE, "reflexivity.")
    assert (verdict.outcome, verdict.reason) == (Outcome.UNVERIFIABLE, "missing_toolchain")
    assert verdict.details == {"message": "no coqc in /usr/bin: install it"}
