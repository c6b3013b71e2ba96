"""`soft_overlong`, `cosine_length`, `length` and `repetition`, with values worked out by hand."""

from __future__ import annotations

import asyncio
import hashlib
import math
import re
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tests.verifier_service.judging import judge
from tests.verifier_service.poison import POISON
from tests.verifier_service.test_score import verdicts
from verifier_service.chinese_words import MAX_RUN, can_split, chinese_words
from verifier_service.completion import Completion
from verifier_service.engine.request_scoring import Scoring
from verifier_service.engine.scheduler import Scheduler
from verifier_service.schemas import ScoreRequest
from verifier_service.verdict import Outcome, Verdict
from verifier_service.verifier import Judgement, Unverifiable
from verifier_service.verifiers.cosine_length import CosineLength
from verifier_service.verifiers.length import Length
from verifier_service.verifiers.repetition import (
    MAX_WORD_CHARACTERS,
    WORD,
    Repetition,
    strict_words,
)
from verifier_service.verifiers.soft_overlong import SoftOverlong
from verifier_service.workers.tasks import EncodedTask, Task, TaskResult

TWO = {"answer": "2"}
OPEN = r"\boxed{\sum_{k=1}^{2} 1}"
"""Correct, which only math-verify can tell."""


def padded(answer: str, length: int) -> str:
    """A completion of that many characters."""
    text = f"$\\boxed{{{answer}}}$"
    return "x" * (length - len(text)) + text


def test_verifiers_that_ask_math_verify_alike_have_tasks_of_one_size() -> None:
    """A task should take some 10 ms, so that requests can take turns."""
    assert Length().task_size == CosineLength().task_size == 64
    assert Length(mode="open_r1").task_size == CosineLength(mode="open_r1").task_size == 8


# soft_overlong


@pytest.mark.parametrize(
    ("num_tokens", "score", "reason"),
    [
        (0, 0.0, "within_length"),
        (12_288, 0.0, "within_length"),
        (12_289, -1 / 4096, "in_cache"),
        (14_336, -0.5, "in_cache"),
        (16_384, -1.0, "in_cache"),
        (16_385, -1.0, "overlong"),
        (10**9, -1.0, "overlong"),
    ],
)
def test_soft_overlong_falls_over_the_cache(num_tokens: int, score: float, reason: str) -> None:
    found = judge(SoftOverlong(), {}, "", num_tokens=num_tokens)
    assert (found.score, found.reason) == (score, reason)
    assert found.details == {"tokens": num_tokens}


def test_soft_overlong_without_a_cache_is_a_step() -> None:
    verifier = SoftOverlong(max_completion_tokens=10, cache_tokens=0)
    assert [judge(verifier, {}, "", num_tokens=n).score for n in (10, 11)] == [0.0, -1.0]


def test_soft_overlong_needs_the_number_of_tokens() -> None:
    with pytest.raises(Unverifiable) as raised:
        judge(SoftOverlong(), {}, "text")
    assert raised.value.reason == "no_token_count"


def test_a_cache_larger_than_the_limit_is_refused() -> None:
    with pytest.raises(ValidationError, match="cache_tokens 9 is more than max_completion_tokens"):
        SoftOverlong(max_completion_tokens=8, cache_tokens=9)


# repetition


@pytest.mark.parametrize(
    ("text", "score", "reason"),
    [
        ("", 0.0, "too_short"),
        ("a b", 0.0, "too_short"),
        ("a b c d", 0.0, "not_repeated"),
        ("a b c a b c", -0.25, "repeated"),  # abc bca cab abc: 3 of 4 differ
        ("A b C a B c", -0.25, "repeated"),
        ("a a a a a a", -0.75, "repeated"),
    ],
)
@pytest.mark.parametrize("mode", ["strict", "open_r1"])
def test_repetition_counts_ngrams(mode: Any, text: str, score: float, reason: str) -> None:
    found = judge(Repetition(mode=mode), {}, text)
    assert (found.score, found.reason) == (score, reason)


@given(st.text(st.characters(max_codepoint=127)) | st.text())
def test_the_short_way_to_words_finds_those_of_the_definition(text: str) -> None:
    assert "".join(strict_words(text)) == "".join(WORD.findall(text))
    if not re.search(rf"\w{{{MAX_WORD_CHARACTERS}}}", text):
        assert strict_words(text) == WORD.findall(text)


def test_repetition_has_open_r1s_options() -> None:
    found = judge(Repetition(ngram_size=1, max_penalty=-0.5), {}, "a b a c")
    assert (found.score, found.details) == (-0.125, {"ngrams": 4, "different": 3})
    with pytest.raises(ValidationError, match="less than or equal to 0"):
        Repetition(max_penalty=0.5)


@pytest.mark.parametrize("max_penalty", [0.0, -0.5, -2.0, -37.5])
def test_repetition_takes_a_penalty_of_any_size(max_penalty: float) -> None:
    verifier = Repetition(ngram_size=2, max_penalty=max_penalty)
    assert judge(verifier, {}, "that that that that that").score == 0.75 * max_penalty
    assert verifier.score_if_killed == max_penalty
    for wrong in (1.0, -1e308, float("-inf"), float("nan")):
        with pytest.raises(ValidationError):
            Repetition(max_penalty=wrong)


@pytest.mark.skipif(not can_split(), reason="jieba is not installed: pip install '.[chinese]'")
@pytest.mark.parametrize(
    ("mode", "text", "score"),
    [
        ("open_r1", "这个这个这个这个这个", -0.75),
        ("strict", "这个这个这个这个这个", -0.75),
        ("open_r1", "这个 这个 这个", -0.5),  # the spaces are words: 2 of 4 differ
        ("strict", "这个 这个 这个", -0.5),  # 1 of 2 differs
        ("open_r1", "Ab ab", 0.0),
        ("open_r1", "", 0.0),
        ("open_r1", "这个", 0.0),
    ],
)
def test_repetition_splits_chinese_into_words(mode: Any, text: str, score: float) -> None:
    verifier = Repetition(mode=mode, language="zh", ngram_size=2)
    assert judge(verifier, {}, text).score == score


@pytest.mark.skipif(not can_split(), reason="jieba is not installed: pip install '.[chinese]'")
@pytest.mark.parametrize("piece", ["的", "这个", "中a", "。", " "])
def test_jieba_gets_no_run_that_takes_it_long(piece: str) -> None:
    whole, part = piece * (2 * MAX_RUN), piece * (MAX_RUN // len(piece))
    assert "".join(chinese_words(whole)) == whole
    assert chinese_words(whole) == chinese_words(part) * (len(whole) // len(part))


def test_without_jieba_chinese_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("verifier_service.chinese_words.can_split", lambda: False)
    with pytest.raises(ValidationError, match="zh needs the package jieba, which the service"):
        Repetition(language="zh")
    with pytest.raises(ValidationError, match="'en' or 'zh'"):
        Repetition.model_validate({"language": "de"})


@pytest.mark.parametrize(
    ("text", "twin"),
    [
        ("a\u200b a\u200c a\u200d a\u2060 a", "a a a a a"),
        ("ab\u200bab\u200bab\u200bab", "ab ab ab ab"),
        ("\uff41 a \uff41 a A", "a a a a a"),
        ("caf\u00e9 cafe\u0301 caf\u00e9 cafe\u0301", "cafe cafe cafe cafe"),
        ("x\ufe00 x\ufe01 x x\u034f", "x x x x"),
        ("a\u3164b a\u1160b a\uffa0b ab", "ab ab ab ab"),
        ("x\U000e0041 x\U000e0100 x x\u2800", "x x x x"),
        ("x\u206a x\u061c x\ufff9 x\u180b", "x x x x"),
        ("ab\u200c\u200bab\u200b\u200cab ab", "ab ab ab ab"),
    ],
)
def test_a_word_is_the_same_however_it_is_encoded(text: str, twin: str) -> None:
    assert judge(Repetition(mode="open_r1"), {}, text).score == 0.0
    assert judge(Repetition(), {}, text).score == judge(Repetition(), {}, twin).score < 0


@pytest.mark.parametrize("piece", ["ha", "abc", "x", "0123456789"])
def test_a_word_without_end_is_a_repetition(piece: str) -> None:
    assert judge(Repetition(mode="open_r1"), {}, piece * 1000).score == 0.0
    assert judge(Repetition(), {}, piece * 1000).score < -0.9
    long_words = " ".join(f"{number:064d}" for number in range(20))
    assert judge(Repetition(), {}, long_words).score == 0.0
    assert judge(Repetition(), {}, hashlib.shake_128(b"1").hexdigest(500)).score == 0.0


@pytest.mark.parametrize("text", ["是的" * 50, "no," * 50, "?!" * 50])
def test_text_without_white_space_does_not_escape(text: str) -> None:
    assert judge(Repetition(mode="open_r1"), {}, text).score == 0.0
    assert judge(Repetition(), {}, text).score < -0.9


@given(st.text(st.sampled_from("ab ,是"), max_size=40), st.integers(1, 4))
def test_repetition_stays_between_its_penalty_and_0(text: str, ngram_size: int) -> None:
    for mode in ("strict", "open_r1"):
        verifier = Repetition.model_validate({"mode": mode, "ngram_size": ngram_size})
        assert -1.0 < judge(verifier, {}, text).score <= 0.0


# references as open-r1's rewards of length read them


@pytest.mark.parametrize("answer", ["unparseable_latex", "yes", "2"])
def test_a_plain_reference_without_delimiters_is_unread(answer: str) -> None:
    """open-r1 gives the shortest 0.5, and its cosine 1, where it cannot read the reference."""
    texts = [r"\boxed{answer}", r"\boxed{answer} " + "x" * 10]
    assert [one.score for one in plain_lengths(answer, texts)] == [0.5, -0.5]
    cosine = CosineLength(mode="open_r1", reference_text="plain")
    assert judge(cosine, {"answer": answer}, texts[0]).reason == "unreadable_reference"
    assert judge(cosine, {"answer": answer}, texts[0]).score == 1.0


def test_a_plain_reference_with_delimiters_is_read() -> None:
    texts = [r"\boxed{\frac{1}{3}}", r"\boxed{\frac{1}{2}} " + "x" * 10, r"\boxed{\frac{1}{2}}"]
    found = plain_lengths(r"$\frac{1}{2}$", texts)
    assert [one.reason for one in found] == ["wrong", "correct", "correct"]
    assert [one.score for one in found] == [0.0, -0.5, 0.5]


def plain_lengths(answer: str, texts: list[str]) -> list[Judgement]:
    group = [Completion(text) for text in texts]
    verifier = Length(mode="open_r1", reference_text="plain")
    judged = map(verifier.prepare_group({"answer": answer}, group), group)
    return [one for one in judged if isinstance(one, Judgement)]


@pytest.mark.parametrize("verifier", [Length, CosineLength])
def test_the_text_of_the_reference_counts_in_open_r1s_mode_alone(verifier: Any) -> None:
    with pytest.raises(ValidationError, match="reference_text: no effect in mode strict"):
        verifier(reference_text="plain")


# cosine_length


@pytest.mark.parametrize("mode", ["strict", "open_r1"])
@pytest.mark.parametrize(
    ("answer", "length", "score", "reason"),
    [
        ("2", 500, 0.75, "correct"),
        ("2", 1000, 0.5, "correct"),
        ("2", 250, 0.5 + 0.25 * (1 + math.sqrt(0.5)), "correct"),
        ("3", 500, -0.75, "wrong"),
        ("3", 1000, -0.5, "wrong"),
        ("3", 250, -0.5 - 0.25 * (1 + math.sqrt(0.5)), "wrong"),
    ],
)
def test_cosine_length_has_open_r1s_values(
    mode: Any, answer: str, length: int, score: float, reason: str
) -> None:
    found = judge(CosineLength(mode=mode), TWO, padded(answer, length))
    assert found.score == pytest.approx(score)
    assert (found.reason, found.details) == (reason, {"length": length})


def test_past_its_end_the_cosine_turns_back_only_for_open_r1() -> None:
    text = padded("3", 2000)
    assert judge(CosineLength(), TWO, text).score == -0.5
    assert judge(CosineLength(mode="open_r1"), TWO, text).score == pytest.approx(-1.0)


def test_an_unreadable_reference_scores_only_for_open_r1() -> None:
    found = judge(CosineLength(mode="open_r1"), {"answer": "$$"}, "2")
    assert (found.score, found.reason) == (1.0, "unreadable_reference")
    with pytest.raises(Unverifiable) as raised:
        judge(CosineLength(), {"answer": "$$"}, "2")
    assert raised.value.reason == "bad_reference"


def test_a_length_that_no_float_holds_is_refused() -> None:
    with pytest.raises(ValidationError, match="less than or equal to 1000000000"):
        CosineLength(max_length=10**400)
    longest = CosineLength(max_length=10**9, unit="tokens")
    assert judge(longest, {"answer": "4"}, "4", num_tokens=10**9).score == 0.5


def test_cosine_length_counts_tokens_where_it_is_told_to() -> None:
    verifier = CosineLength(unit="tokens", max_length=10)
    assert judge(verifier, TWO, "$2$", num_tokens=5).score == pytest.approx(0.75)
    with pytest.raises(Unverifiable) as raised:
        judge(verifier, TWO, "$2$")
    assert raised.value.reason == "no_token_count"
    with pytest.raises(ValidationError, match="open-r1 counts characters"):
        CosineLength(mode="open_r1", unit="tokens")


def test_what_only_math_verify_can_tell_is_asked_on_the_spot() -> None:
    assert judge(CosineLength(), TWO, OPEN).reason == "correct"


@given(st.sampled_from(["2", "3"]), st.integers(20, 3000))
def test_cosine_length_prefers_short_correct_and_long_wrong(answer: str, length: int) -> None:
    shorter = judge(CosineLength(), TWO, padded(answer, length)).score
    longer = judge(CosineLength(), TWO, padded(answer, length + 100)).score
    assert -1.0 <= shorter <= 1.0
    assert (shorter >= longer) if answer == "2" else (shorter <= longer)


# length


def judge_group(verifier: Length, reference: dict[str, Any], *texts: str) -> list[Judgement]:
    group = [Completion(text) for text in texts]
    judge_one = verifier.prepare_group(reference, group)
    found = [judge_one(completion) for completion in group]
    return [one for one in found if isinstance(one, Judgement)]


@pytest.mark.parametrize("mode", ["strict", "open_r1"])
def test_length_has_open_r1s_values(mode: Any) -> None:
    texts = [padded("2", 100), padded("3", 100), padded("2", 200), padded("3", 250)]
    texts += [padded("2", 300)]
    found = judge_group(Length(mode=mode), TWO, *texts)
    assert [one.score for one in found] == [0.5, 0.0, 0.0, -0.25, -0.5]
    assert [one.reason for one in found] == ["correct", "wrong", "correct", "wrong", "correct"]
    assert found[0].details == {"length": 100, "shortest": 100, "longest": 300}


def test_completions_of_one_length_score_0() -> None:
    found = judge_group(Length(), TWO, padded("2", 50), padded("3", 50))
    assert [(one.score, one.reason) for one in found] == [(0.0, "same_length")] * 2


def test_an_unreadable_reference_makes_all_correct_only_for_open_r1() -> None:
    found = judge_group(Length(mode="open_r1"), {"answer": "$$"}, "a", "bb")
    assert [one.score for one in found] == [0.5, -0.5]
    with pytest.raises(Unverifiable):
        judge_group(Length(), {"answer": "$$"}, "a", "bb")


def test_a_group_with_an_uncounted_completion_has_no_lengths() -> None:
    group = [Completion("$2$", 3), Completion("$2$")]
    with pytest.raises(Unverifiable) as raised:
        Length(unit="tokens").prepare_group(TWO, group)
    assert raised.value.reason == "no_token_count"


# through the service


@pytest.mark.slow
@pytest.mark.parametrize("verifier", [{"type": "length"}, {"type": "cosine_length"}])
def test_a_completion_that_cannot_be_judged_gains_nothing(
    http: httpx.Client, verifier: dict[str, Any]
) -> None:
    texts = [padded("2", 40), POISON, padded("2", 80), padded("3", 60)]
    right, endless, *_, wrong = verdicts(http, verifier, *texts, answer="2")
    assert (right["outcome"], right["reason"], wrong["reason"]) == ("scored", "correct", "wrong")
    assert (endless["outcome"], endless["reason"]) in [("scored", "wrong"), ("scored", "too_slow")]
    assert endless["score"] <= wrong["score"]


@pytest.mark.parametrize("mode", ["strict", "open_r1"])
def test_groups_are_judged_each_by_itself(http: httpx.Client, mode: str) -> None:
    texts = [[padded("2", 40), padded("2", 60), padded("2", 40)], [padded("2", 40)], []]
    body = {
        "verifiers": [{"type": "length", "mode": mode}],
        "groups": [{"reference": TWO, "completions": group} for group in texts],
    }
    groups = http.post("/v1/score", json=body).json()["groups"]
    assert [[c["verdicts"]["length"]["score"] for c in g["completions"]] for g in groups] == [
        [0.5, -0.5, 0.5],
        [0.0],
        [],
    ]


class WatchedPool:
    """Writes tasks down and gives each completion the number of those in its part."""

    size = 4
    problem = None

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    async def judge(self, encoded: EncodedTask, verdicts: list[TaskResult]) -> None:
        task = encoded.decode()
        self.tasks.append(task)
        for part in task.parts:
            size = float(len(part.completions))
            verdicts += [Verdict(Outcome.SCORED, size, "correct", 0.0)] * len(part.completions)


@given(st.lists(st.lists(st.sampled_from("ab"), max_size=60), max_size=12))
def test_a_group_is_never_split_nor_joined_nor_deduplicated(groups: list[list[str]]) -> None:
    request = ScoreRequest.model_validate(
        {
            "verifiers": [{"type": "length"}],
            "groups": [{"reference": TWO, "completions": texts} for texts in groups],
        }
    )
    pool = WatchedPool()
    scheduler = Scheduler({"text": pool}, max_cached_verdicts=100)
    scored = asyncio.run(Scoring(request, scheduler).run(60))
    found = [[place["length"].score for place in places] for places in scored.groups]
    assert found == [[float(len(texts))] * len(texts) for texts in groups]
    parts = [part for task in pool.tasks for part in task.parts]
    assert all(part.group == part.completions for part in parts)


def test_a_slice_of_a_task_keeps_the_whole_group() -> None:
    body = {"verifiers": [{"type": "length"}], "groups": [{"completions": ["a", "b", "c"]}]}
    pool = WatchedPool()
    scheduler = Scheduler({"text": pool}, max_cached_verdicts=100)
    asyncio.run(Scoring(ScoreRequest.model_validate(body), scheduler).run(60))
    (part,) = pool.tasks[0].slice(1, 2).parts
    assert (part.completions, part.group) == (
        [Completion("b")],
        [Completion("a"), Completion("b"), Completion("c")],
    )
