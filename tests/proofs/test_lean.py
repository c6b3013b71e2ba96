"""Proofs in Lean: what the text decides, what a server says, and failures of the server."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from tests.growth import assert_linear
from tests.lean_server import Lean, LeanMode, serving_lean
from verifier_service.completion import Completion
from verifier_service.proofs.lean_guards import check_words
from verifier_service.proofs.lean_judge import ask_lean, lean_result
from verifier_service.proofs.lean_report import (
    MAX_ERROR_CHARACTERS,
    LeanMessage,
    LeanPlace,
    finding_of,
)
from verifier_service.proofs.lean_server import LeanClient
from verifier_service.proofs.lean_settings import LeanSettings
from verifier_service.proofs.lean_task import MARK, LeanQuestion, read_lean_task
from verifier_service.proofs.lean_text import LeanTextProblem, imports_of, without_comments
from verifier_service.proofs.refusal import Refused
from verifier_service.verdict import Verdict
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.proof import Proof

TRUE = {"statement": "theorem goal : 1 + 1 = 2 := by sorry", "preamble": "import Mathlib\nopen Nat"}
FALSE = {**TRUE, "statement": "theorem goal : 1 + 1 = 3 := by sorry"}


def looked_at(reference: dict[str, str], text: str, **options: Any) -> Verdict | str:
    """The verdict that a text alone decides, or the question."""
    proof = Proof.model_validate({"language": "lean", **options})
    found = lean_result(proof, reference, Completion(f"So:\n```lean4\n{text}\n```"))
    assert isinstance(found, Verdict | str)
    return found


def judged(
    lean: Lean, reference: dict[str, str], text: str, *, seconds: float = 60.0, **options: Any
) -> Verdict:
    """The verdict on a text, by a server."""
    protocol = options.pop("protocol", "kimina")
    found = looked_at(reference, text, **options)
    if isinstance(found, Verdict):
        return found

    async def ask(url: str, question: str) -> Verdict:
        settings = LeanSettings(lean_url=(url,), lean_protocol=protocol, lean_seconds=seconds)
        async with LeanClient(settings) as client:
            return await ask_lean(client, question)

    with serving_lean(lean) as url:
        return asyncio.run(ask(url, found))


STATED = "theorem goal : 1 + 1 = 2 := by\n  {}"


@pytest.mark.parametrize("protocol", ["kimina", "repl"])
@pytest.mark.parametrize(
    "text",
    [
        STATED.format("rfl"),
        f"import Mathlib\nopen Nat\n\n{STATED.format('rfl')}",
        "theorem goal :\n    1+1 = 2 := by -- a comment\n  rfl",
        "by\n  rfl",
        ":= by rfl",
        "rfl",
    ],
)
def test_a_right_proof_is_proved(text: str, protocol: str) -> None:
    found = judged(Lean(), TRUE, text.replace(":\n    1+1", ": 1+1"), protocol=protocol)
    assert (found.score, found.reason) == (1.0, "proved")
    assert found.details is not None
    assert (found.details["by"], found.details["axioms"]) == ("lean", [])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("rfl", "rejected"),
        ("sorry", "incomplete"),
        ("admit", "incomplete"),
        ("loop", "time_limit_exceeded"),
        ("theorem goal : 1 + 1 = 2 := by rfl", "other_statement"),
        ("theorem other : 1 + 1 = 2 := by rfl", "rejected"),
        ("axiom cheat : False\ntheorem goal : 1 + 1 = 3 := by\n  rfl", "not_allowed"),
        ('macro "rfl" : tactic => `(tactic| sorry)', "not_allowed"),
        ("/- -/ macro_rules | `(rfl) => `(rfl)", "not_allowed"),
        ('notation "3" => 2\ntheorem goal : 1 + 1 = 3 := by\n  rfl', "not_allowed"),
        ("#eval 1", "not_allowed"),
        ("#exit", "not_allowed"),
        ('run_cmd Lean.logInfo "x"', "not_allowed"),
        ("open Lean Elab in\nrfl", "not_allowed"),
        ("set_option debug.skipKernelTC true in\nrfl", "not_allowed"),
        ("set_option maxHeartbeats 0 in\nrfl", "not_allowed"),
        ("set_option maxHeartbeats 99999999 in\nrfl", "not_allowed"),
        ("import Lean\nrfl", "not_allowed"),
        ("@[implemented_by foo] def bar := 1", "not_allowed"),
        ("@[csimp] theorem a : b := c", "not_allowed"),
        ("attribute [macro foo] bar", "not_allowed"),
        ("native_decide", "not_allowed"),
        ("decide +native", "not_allowed"),
        ("/- open", "not_allowed"),
        ("-/ rfl", "not_allowed"),
        ('have := "/-"\nmacro "-/"', "not_allowed"),
        ('f \'\'"\' /- " macro "x" -/', "not_allowed"),
        ("theorem help : 1 = 1 := by rfl\n@[aesop safe (rule_sets := [A]), x a] d", "not_allowed"),
    ],
)
def test_a_false_statement_is_never_proved(text: str, reason: str) -> None:
    found = judged(Lean(), FALSE, text)
    assert (found.score, found.reason) == (0.0, reason)


@pytest.mark.parametrize(
    "text",
    [
        "rfl -- no sorry, no axiom",
        "/- macro /- notation -/ -/ rfl",
        "rfl\n-- set_option",
        "set_option maxHeartbeats 400000 in\nrfl",
        "@[simp, local ext] theorem help : 1 = 1 := by rfl\ntheorem goal : 1 + 1 = 2 := by rfl",
        'theorem help : 1 = 1 := by rfl -- "\ntheorem goal : 1 + 1 = 2 := by rfl',
        "#check Nat\ntheorem goal : 1 + 1 = 2 := by rfl",
        "import Mathlib.Tactic\ntheorem goal : 1 + 1 = 2 := by rfl",
    ],
)
def test_an_honest_twin_is_given_to_lean(text: str) -> None:
    assert isinstance(looked_at(TRUE, text), str)


GLUED = [
    *("'a'{}", "'\\n'{}", "'\\''{}", "'('{}", "'₁'{}", "''{}", '"a"{}', 'r#"a"#{}', "«a»{}"),
    *("0x1{}", "0b1{}", "1e5{}", "1.5{}", "3!{}", "h.1{}", "h.1.{}", "(x){}", "`{}", "[]{}"),
    *(
        "(2:\u211a)⁻¹{}",
        "sᶜ{}",
        "Aᵀ{}",
        "x²{}",
        "‖x‖ₑ{}",
        "\u211d≥0{}",
        "?_{}",
        "⟪x⟫_{}",
        "⟪x⟫_\u211d{}",
    ),
    *("λ{}", "é{}", "{}«a»", "{}ᶜ", "{}:50", "a.{}.b", "#{}", "\u00a0{}", "x?.{}"),
]


@pytest.mark.parametrize("word", ["macro_rules", "run_cmd", "notation", "Lean", "eval_expr"])
@pytest.mark.parametrize("place", GLUED)
def test_a_forbidden_word_is_found_whatever_stands_beside_it(place: str, word: str) -> None:
    found = looked_at(TRUE, f"exact {place.format(word)} | x\ntheorem more : True := trivial")
    assert isinstance(found, Verdict)
    assert (found.score, found.reason) == (0.0, "not_allowed")


@pytest.mark.parametrize(
    "name",
    [
        *("my_macro", "macro'", "macro₁", "xmacro_rules", "isLean", "_root_.my_notation"),
        *("h'macro", "macros", "a.my_prefix", "initialize_simps_projections", "r.stop"),
        *(
            "0x1F",
            "1e5",
            "2.5e-3",
            "x⁻¹",
            "sᶜ",
            "'a'",
            "'\\n'",
            "\u211d≥0∞",
            "?_",
            "⟪x, y⟫_\u211d",
            "10⁻¹*x",
        ),
    ],
)
def test_a_name_that_has_a_forbidden_word_in_it_is_given_to_lean(name: str) -> None:
    assert isinstance(looked_at(TRUE, f"exact ({name} y)"), str)


def test_a_macro_behind_a_sign_with_the_statement_in_a_string_is_no_proof() -> None:
    text = (
        "def c : Char := 'a'macro_rules | `(type_of% $_) => `(True)\n"
        'def w := "foo : 1 = 2 :="\ntheorem foo : True := trivial'
    )
    found = looked_at({"statement": "theorem foo : 1 = 2 := by sorry"}, text)
    assert isinstance(found, Verdict)
    assert (found.score, found.reason) == (0.0, "not_allowed")


@pytest.mark.parametrize(
    "literal", ['"goal : 1 + 1 = 2 :="', 'r#"goal : 1 + 1 = 2 :="#', 's!"goal : 1 + 1 = 2 :="']
)
def test_the_words_of_a_string_state_nothing(literal: str) -> None:
    found = looked_at(TRUE, f"def w := {literal}\ntheorem goal : True := trivial")
    assert isinstance(found, Verdict)
    assert (found.score, found.reason) == (0.0, "other_statement")
    assert isinstance(looked_at(TRUE, f"def w := {literal}\n{STATED.format('rfl')}"), str)


def test_the_strings_of_a_statement_are_compared() -> None:
    reference = {"statement": 'theorem goal : f "a" = "b" := by sorry'}
    assert isinstance(looked_at(reference, 'theorem goal : f "a" = "b" := by rfl'), str)
    other = looked_at(reference, 'theorem goal : f "a" = "c" := by rfl')
    assert isinstance(other, Verdict)
    assert other.reason == "other_statement"


@pytest.mark.parametrize(
    ("cheat", "honest"),
    [
        ("@[ext «]», command_elab k] def e := f", "@[ext, simp] def e := f"),
        ("@[simp, aesop (r := [A]), term_elab k] def e := f", "@[simp, ext] def e := f"),
        ('@[simp "]", tactic k] def e := f', '@[simp] def e := "]"'),
        ("@[norm_num 1 + 1] def e := f", "theorem e : 1 + 1 = 2 := by norm_num"),
        ("@[positivity a] def e := f", "theorem e : 0 < 2 := by positivity"),
        ("@[aesop safe] def e := f", "theorem e : True := by aesop"),
        ("x⁻¹attribute [command_elab k] e", "attribute [local simp] e"),
        ("def e : Aesop.RuleTac := f", "def e : Rule := f"),
        ("open Mathlib Meta NormNum", "open Nat Real"),
        ("«macro» x", "«a macros» x"),
        ('set_option trace.profiler.output "f"', "set_option trace.profiler true"),
        ("count_heartbeats in", "set_option maxHeartbeats 400000 in"),
        ("declare_simp_like_tactic a", "declare"),
        ("infixl:65 a => b", "def infixl65 := b"),
        ("local postfix:65 a => b", "def local_postfix := b"),
        ("open scoped Nat in macro a", "open scoped Nat in"),
    ],
)
def test_what_may_change_the_check_is_refused_and_its_honest_twin_is_not(
    cheat: str, honest: str
) -> None:
    found = looked_at(TRUE, f"{cheat}\n{STATED.format('rfl')}")
    assert isinstance(found, Verdict)
    assert (found.score, found.reason) == (0.0, "not_allowed")
    assert isinstance(looked_at(TRUE, f"{honest}\n{STATED.format('rfl')}"), str)


def test_the_mark_is_in_no_detail() -> None:
    """A mark that the limit would cut is replaced before the text is cut."""
    question = looked_at(TRUE, "rfl")
    assert isinstance(question, str)
    asked = msgspec.json.decode(question, type=LeanQuestion)
    wanted = f"'{MARK}_wanted' depends on axioms: [sorryAx]"
    error = " " * (2 * MAX_ERROR_CHARACTERS - len(MARK) + 1) + MARK
    messages = [
        LeanMessage("info", wanted, LeanPlace(asked.wanted_line)),
        LeanMessage("error", f"a{error}", LeanPlace(asked.wanted_line + 2)),
    ]
    assert MARK[:15] not in str(finding_of(asked, messages).details)


def test_axioms_are_compared() -> None:
    classical = judged(Lean(), TRUE, "em")
    assert (classical.reason, classical.details and classical.details["axioms"]) == (
        "proved",
        ["propext", "Classical.choice", "Quot.sound"],
    )
    assert judged(Lean(), TRUE, "em", axioms=["propext"]).reason == "axiom_used"
    assert judged(Lean(), TRUE, "native_decide", native_decide=True).reason == "proved"


def test_a_server_that_counts_lines_without_imports_is_understood() -> None:
    lean = Lean(counts_imports=False)
    assert judged(lean, TRUE, "rfl").reason == "proved"
    assert judged(lean, FALSE, "rfl").reason == "rejected"
    bad = {**TRUE, "preamble": "import Mathlib\nunknown"}
    assert judged(lean, bad, "rfl").reason == "bad_reference"


def test_what_is_proved_under_the_name_must_be_what_is_wanted() -> None:
    """The text has the wanted words, in another place than the theorem's."""
    text = "theorem goal : 1 = 1 := by rfl\ntheorem more.goal : 1 + 1 = 3 := by rfl"
    found = judged(Lean(), {**FALSE, "statement": "theorem goal : 1 + 1 = 3"}, text)
    assert (found.score, found.reason) != (1.0, "proved")


@pytest.mark.parametrize("protocol", ["kimina", "repl"])
@pytest.mark.parametrize(
    ("mode", "reason"),
    [
        ("fails", "server_unavailable"),
        ("breaks_off", "server_unavailable"),
        ("rate_limited", "server_rate_limited"),
        ("refuses", "server_refused"),
        ("malformed", "server_unreadable"),
        ("huge", "server_unreadable"),
        ("has_no_environment", "server_unreadable"),
        ("says_nothing", "server_unreadable"),
    ],
)
def test_a_bad_server_is_no_zero(mode: LeanMode, reason: str, protocol: str) -> None:
    for text in ("rfl", "loop"):
        found = judged(Lean(mode), TRUE, text, protocol=protocol)
        assert (found.outcome.value, found.score, found.reason) == ("failed", None, reason)


@pytest.mark.parametrize(
    ("mode", "reason"), [("times_out", "server_timed_out"), ("crashes", "server_unavailable")]
)
def test_a_failure_that_kimina_reports_is_no_zero(mode: LeanMode, reason: str) -> None:
    found = judged(Lean(mode), TRUE, "rfl")
    assert (found.outcome.value, found.score, found.reason) == ("failed", None, reason)


def test_a_server_that_hangs_is_given_up() -> None:
    found = judged(Lean("hangs"), TRUE, "rfl", seconds=0.2)
    assert (found.outcome.value, found.reason) == ("failed", "server_timed_out")


def test_a_server_that_is_not_there_is_no_zero() -> None:
    question = looked_at(TRUE, "rfl")
    assert isinstance(question, str)

    async def ask() -> Verdict:
        async with LeanClient(LeanSettings(lean_url=("http://127.0.0.1:9",))) as client:
            return await ask_lean(client, question)

    found = asyncio.run(ask())
    assert (found.outcome.value, found.reason) == ("failed", "server_unavailable")


def test_without_a_server_a_proof_is_unverifiable() -> None:
    question = looked_at(TRUE, "rfl")
    assert isinstance(question, str)
    found = asyncio.run(ask_lean(None, question))
    assert (found.outcome.value, found.reason) == ("unverifiable", "missing_toolchain")
    assert found.details is not None
    assert "VERIFIER_LEAN_URL" in found.details["message"]


def test_a_statement_that_lean_does_not_take_is_the_references_fault() -> None:
    for reference in (
        {**TRUE, "statement": "theorem goal : 1 + 1 = 2 := by sorry", "preamble": "unknown"},
        {"statement": "theorem goal : 1 + 1 = 2 := by sorry", "preamble": "unknown words"},
    ):
        found = judged(Lean(), reference, "loop")
        assert (found.outcome.value, found.reason) == ("unverifiable", "bad_reference")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({}, "reference.statement is needed; the reference is empty"),
        ({"statement": ["a"]}, "reference.statement: found a list, expected a text"),
        ({"statement": "Theorem goal : 1 = 1."}, "expected one theorem of Lean 4, found 0"),
        ({"statement": "theorem a : b := c\ntheorem d : e := f"}, "found 2"),
        ({"statement": "theorem a : b /- c"}, "a comment has no end"),
    ],
)
def test_a_reference_that_cannot_be_used_is_named(reference: dict[str, Any], message: str) -> None:
    with pytest.raises(Unverifiable) as error:
        looked_at(reference, "rfl")
    assert message in error.value.message


@pytest.mark.parametrize(
    "statement",
    [
        "theorem one (x : Nat) : x = x := by sorry",
        "theorem one (x : Nat) : x = x := sorry",
        "theorem one (x : Nat) : x = x := by",
        "theorem one (x : Nat) : x = x :=\n  by\n  sorry",
        "import Mathlib\n/-- About x := 1. -/\ntheorem one (x : Nat) : x = x",
    ],
)
def test_statements_are_read_as_data_sets_ship_them(statement: str) -> None:
    task = read_lean_task({"statement": statement})
    assert (task.name, task.statement) == ("one", " (x : Nat) : x = x")


def test_the_statement_is_elaborated_before_the_completion_is_read() -> None:
    code, wanted_line, check_line = read_lean_task(TRUE).file("variable (x : Nat)\nrfl")
    lines = code.split("\n")
    assert lines[wanted_line - 1] == f"#print axioms {MARK}_wanted"
    assert lines[wanted_line] == f"section {MARK}"
    assert lines[check_line - 1] == f"end {MARK}"
    assert lines[check_line] == f"theorem {MARK}_check : type_of% @{MARK}_wanted := @goal"


def test_a_key_is_sent_and_shown_nowhere() -> None:
    lean = Lean()
    question = looked_at(TRUE, "rfl")
    assert isinstance(question, str)

    async def ask(url: str) -> Verdict:
        settings = LeanSettings.model_validate({"lean_url": (url,), "lean_key": "secret"})
        assert "secret" not in repr(settings)
        async with LeanClient(settings) as client:
            return await ask_lean(client, question)

    with serving_lean(lean) as url:
        assert asyncio.run(ask(url)).reason == "proved"
    assert "authorization: bearer secret" in lean.heads[0].lower()


def check_text(text: str) -> None:
    try:
        check_words(imports_of(without_comments(text))[1], native_decide=False)
    except (LeanTextProblem, Refused):
        return


@pytest.mark.parametrize(
    "piece",
    [
        *("/- ", "-- a\n", '"', "'a' ", 'r#"', "a.", "@[simp] ", "set_option a ", "import a\n"),
        *("'a", "⟫_", "x⁻¹", "@[", "#a"),
    ],
)
def test_reading_takes_linear_time(piece: str) -> None:
    assert_linear(check_text, piece)
