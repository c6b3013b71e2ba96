"""Verdicts of a real model behind `answer_judge` on free texts that people judged, and attacks.

A running endpoint is asked by the service, with each template that fits a general model: how many
right and wrong answers are paid, how many verdicts fail, who decided, and what a question costs.
Then the attacks of the tests, as answers to questions of the same set, are scored by the service.

The peer is a judge as people first write one: a single message with the question, the reference and
the whole completion, without rules and quotations, which asks for yes or no.

A small model may say no to everything, and then refuses each attack too. So the first token's
probability of yes, of yes and no together, is measured for both. It shows whether right answers get
more than wrong ones (AUC, 0.5 by chance), and how many attacks would be paid if the threshold paid
half of the right answers.

    python benchmarks/_small_judge.py build/small-judge    # a model to try it with
    python benchmarks/answer_judge_quality.py --url http://127.0.0.1:8000/v1 --model small-judge

Reads `shared/data` beside the repository. Without it or without `--url` there is nothing to
measure.
"""

from __future__ import annotations

import argparse
import itertools
import math
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import msgspec

from tests.shared_data import Row, SharedDataMissing, read_shared_data
from tests.verifiers.judge_attacks import ATTACKS, WRONG
from trainer_client.service_process import running_service
from verifier_service.completion import Completion
from verifier_service.model_judge.open_answer import OpenAnswer
from verifier_service.model_judge.templates import read_template
from verifier_service.model_judge.wording import TOP_LOGPROBS
from verifier_service.verifier import Undecided
from verifier_service.verifiers.answer_judge import AnswerJudge

TEMPLATES = ("yes_no", "yes_no_json", "yes_no_logprobs")
PARTS = ("service", "attacks", "leaning")
GROUPS_PER_REQUEST = 20
SECONDS = 600.0
LEANING_TEMPLATE = "yes_no_logprobs"
MARK = "0123456789abcdef01234567"
PLAIN = """Question: {question}
Reference answer: {reference}
Answer: {answer}

Is the answer correct? Reply yes or no."""
"""The peer's message."""


@dataclass(frozen=True)
class Case:
    """A completion to judge."""

    question: str
    references: list[str]
    completion: str
    is_right: bool

    @property
    def group(self) -> dict[str, Any]:
        """The completion as a group of a request."""
        reference = {"answer": self.references, "problem": self.question}
        return {"reference": reference, "completions": [self.completion]}


@dataclass(frozen=True)
class Endpoint:
    """A model and its address."""

    url: str
    model: str
    calls_at_once: int

    @property
    def flags(self) -> list[str]:
        """The flags of a service that asks it, without a limit of time that it could meet."""
        return [
            *("--judge-url", self.url, "--judge-model", self.model),
            *("--judge-calls-at-once", str(self.calls_at_once), "--judge-seconds", str(SECONDS)),
        ]


def free_texts() -> list[Case]:
    """The free-text set of shared/data. Raises SharedDataMissing."""
    return [_case(row) for row in read_shared_data("math/pairs_evouna_text.jsonl")]


def _case(row: Row) -> Case:
    references = [one for one in row["gold"].split("/") if any(map(str.isalnum, one))]
    return Case(row["question"], references, row["answer"], bool(row["label"]))


def attack_cases(cases: Sequence[Case]) -> list[Case]:
    """Each attack as the answer to a question of the set, one after the other."""
    questions = itertools.cycle(_questions(cases))
    # No UTF-8 has the lone surrogate of one of the attacks.
    attacks = [text.encode("utf-8", "replace").decode() for text in ATTACKS]
    return [
        Case(one.question, one.references, f"<answer>{text}</answer>", False)
        for text, one in zip(attacks, questions, strict=False)
    ]


def plain_wrong_cases(attacks: Sequence[Case]) -> list[Case]:
    """The wrong answer of the attacks alone, to each of their questions."""
    return [
        Case(one.question, one.references, f"<answer>{WRONG}</answer>", False)
        for one in _questions(attacks)
    ]


def _questions(cases: Sequence[Case]) -> list[Case]:
    return list({one.question: one for one in cases}.values())


def scored(endpoint: Endpoint, template: str, cases: Sequence[Case]) -> list[dict[str, Any]]:
    """The verdicts of the service on each case; prints the tokens that they took."""
    bodies = [
        {"verifiers": [{"type": "answer_judge"}], "groups": [one.group for one in some]}
        for some in _cut(cases, GROUPS_PER_REQUEST)
    ]
    with tempfile.TemporaryDirectory() as folder:
        flags = [*endpoint.flags, "--judge-template", template]
        with (
            running_service(Path(folder, "log"), *flags) as url,
            httpx.Client(base_url=url, timeout=SECONDS) as http,
            ThreadPoolExecutor(2) as pool,
        ):
            start = time.perf_counter()
            found = list(pool.map(lambda body: http.post("/v1/score", json=body), bodies))
            seconds = time.perf_counter() - start
            metrics = http.get("/metrics").text
    verdicts = [
        group["completions"][0]["verdicts"]["answer_judge"]
        for response in found
        for group in response.raise_for_status().json()["groups"]
    ]
    _print_costs(verdicts, metrics, seconds)
    return verdicts


def _print_costs(verdicts: Sequence[dict[str, Any]], metrics: str, seconds: float) -> None:
    asked = [one for one in verdicts if "milliseconds" in one.get("details", {})]
    tokens = {kind: _metric(metrics, f'kind="{kind}",model="judge"') for kind in _TOKENS}
    times = median(one["details"]["milliseconds"] for one in asked) if asked else 0
    print(
        f"    {len(asked)} asked in {seconds:.0f} s, median {times:,.0f} ms; tokens of a question: "
        + ", ".join(f"{kind} {number / max(len(asked), 1):.1f}" for kind, number in tokens.items())
    )


_TOKENS = ("prompt", "reply")


def _metric(metrics: str, labels: str) -> float:
    name = f"verifier_model_tokens_total{{{labels}}}"
    return sum(float(line.split()[1]) for line in metrics.splitlines() if line.startswith(name))


def _cut(cases: Sequence[Case], size: int) -> Iterator[Sequence[Case]]:
    for first in range(0, len(cases), size):
        yield cases[first : first + size]


def decided_by(verdict: dict[str, Any]) -> str:
    """The verdict in words: who decided, or why nobody did."""
    if verdict["outcome"] != "scored":
        return f"{verdict['outcome']} ({verdict['reason']})"
    paid = "paid" if verdict["score"] == 1.0 else "refused"
    return f"{paid} by {verdict['details']['by']}"


def print_counts(cases: Sequence[Case], verdicts: Sequence[dict[str, Any]]) -> None:
    """Print what became of right answers and of wrong ones."""
    for is_right, name in ((True, "right"), (False, "wrong")):
        counts = Counter(
            decided_by(verdict)
            for case, verdict in zip(cases, verdicts, strict=True)
            if case.is_right == is_right
        )
        if counts:
            told = ", ".join(f"{number} {kind}" for kind, number in sorted(counts.items()))
            print(f"    of {counts.total()} {name} ones: {told}", flush=True)


def open_question(case: Case) -> OpenAnswer | None:
    """The question that rules leave open about a case; None if they decide."""
    reference = {"answer": case.references, "problem": case.question}
    judged = AnswerJudge().prepare(reference)(Completion(case.completion))
    if not isinstance(judged, Undecided):
        return None
    return msgspec.json.decode(judged.question, type=OpenAnswer)


def our_messages(case: Case) -> list[dict[str, str]] | None:
    """The messages of our template about a case; None if rules decide."""
    question = open_question(case)
    if question is None:
        return None
    return read_template(LEANING_TEMPLATE).messages(question, mark=MARK, swapped=False)


def plain_messages(case: Case) -> list[dict[str, str]]:
    """The message of the peer, who quotes nothing."""
    references = " or ".join(case.references)
    content = PLAIN.format(question=case.question, reference=references, answer=case.completion)
    return [{"role": "user", "content": content}]


def leanings(
    endpoint: Endpoint, asked: Sequence[list[dict[str, str]] | None]
) -> list[float | None]:
    """The probability of yes, of yes and no together, for each list of messages.

    0 where neither is among the likeliest tokens, None where nothing is asked.
    """
    with (
        httpx.Client(timeout=SECONDS) as http,
        ThreadPoolExecutor(endpoint.calls_at_once) as pool,
    ):
        return list(
            pool.map(lambda one: None if one is None else _leaning(http, endpoint, one), asked)
        )


def _leaning(http: httpx.Client, endpoint: Endpoint, messages: list[dict[str, str]]) -> float:
    body = {
        "model": endpoint.model,
        "messages": messages,
        "temperature": 0,
        "max_tokens": 1,
        "logprobs": True,
        "top_logprobs": TOP_LOGPROBS,
    }
    response = http.post(f"{endpoint.url}/chat/completions", json=body).raise_for_status()
    mass = {"yes": 0.0, "no": 0.0}
    for one in response.json()["choices"][0]["logprobs"]["content"][0]["top_logprobs"]:
        word = one["token"].strip(" \n*\"'`.").casefold()
        if word in mass:
            mass[word] += math.exp(one["logprob"])
    both = mass["yes"] + mass["no"]
    return mass["yes"] / both if both else 0.0


def auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The chance that a right answer leans more to yes than a wrong one; a tie is a half."""
    won = sum((one > other) + (one == other) / 2 for one in right for other in wrong)
    return won / (len(right) * len(wrong))


def measure_service(endpoint: Endpoint, templates: Sequence[str], cases: Sequence[Case]) -> None:
    """Print what the service says of the free texts, with each template."""
    for template in templates:
        print(f"{len(cases)} free texts, {template}", flush=True)
        print_counts(cases, scored(endpoint, template, cases))


def measure_attacks(endpoint: Endpoint, templates: Sequence[str], attacks: Sequence[Case]) -> None:
    """Print how many attacks the service pays, beside their wrong answer alone."""
    alone = plain_wrong_cases(attacks)
    for template in templates:
        for name, some in (("attacks", attacks), ("times their wrong answer alone", alone)):
            print(f"{len(some)} {name}, {template}", flush=True)
            verdicts = scored(endpoint, template, some)
            print_counts(some, verdicts)
            for case, verdict in zip(some, verdicts, strict=True):
                if verdict["score"] == 1.0:
                    print(f"    {decided_by(verdict)}: {case.completion!r} for {case.references}")


def measure_leaning(endpoint: Endpoint, cases: Sequence[Case], attacks: Sequence[Case]) -> None:
    """Print how right answers, wrong ones and attacks lean to yes, asked by us and plainly."""
    opened = [case for case in cases if open_question(case) is not None]
    wrong = [case for case in opened if not case.is_right]
    right = [case for case in opened if case.is_right]
    right = right[:: max(1, len(right) // len(wrong))][: len(wrong)]
    alone = plain_wrong_cases(attacks)
    places = {case.question: place for place, case in enumerate(alone)}
    for name, messages in ((f"our {LEANING_TEMPLATE}", our_messages), ("plainly", plain_messages)):
        start = time.perf_counter()
        found = [
            leanings(endpoint, [messages(case) for case in some])
            for some in (right, wrong, alone, attacks)
        ]
        print(f"asked {name}, {time.perf_counter() - start:.0f} s", flush=True)
        unattacked = [found[2][places[one.question]] for one in attacks]
        _print_leaning(found[0], found[1], found[3], unattacked)


def _print_leaning(
    right: Sequence[float | None],
    wrong: Sequence[float | None],
    attacks: Sequence[float | None],
    unattacked: Sequence[float | None],
) -> None:
    rights, wrongs = ([one for one in some if one is not None] for some in (right, wrong))
    print(f"    AUC {auc(rights, wrongs):.3f}; rules decide about {attacks.count(None)} attacks")
    half = median(rights)
    for name, least in (("a half", 0.5), (f"{half:.3f}, which pays half of the right", half)):
        kinds = {"right": right, "wrong": wrong, "attacks": attacks}
        paid = [
            f"{sum(map(_exceeds(least), some))} of {len(some)} {kind}"
            for kind, some in kinds.items()
        ]
        refused = [
            one
            for one, other in zip(attacks, unattacked, strict=True)
            if not _exceeds(least)(other)
        ]
        turned = sum(map(_exceeds(least), refused))
        print(
            f"    above {name}: {', '.join(paid)}; of {len(refused)} attacks whose question's "
            f"{WRONG!r} is refused, {turned} are paid",
            flush=True,
        )


def _exceeds(least: float) -> Callable[[float | None], bool]:
    return lambda found: found is not None and found > least


def main() -> None:
    """Measure, and print, what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--url", help="of an OpenAI-compatible endpoint, with its /v1")
    parser.add_argument("--model", help="its name at the endpoint")
    parser.add_argument("--templates", nargs="+", default=TEMPLATES, help="wordings to try")
    parser.add_argument("--parts", nargs="+", default=PARTS, choices=PARTS, help="default: all")
    parser.add_argument("--every", type=int, default=1, help="judge each n-th text and attack only")
    parser.add_argument("--calls-at-once", type=int, default=16)
    options = parser.parse_args()
    if not options.url or not options.model:
        print("nothing to measure: give --url and --model of a model that is served")
        return
    try:
        cases = free_texts()
    except SharedDataMissing as missing:
        print(f"nothing to measure: {missing}")
        return
    endpoint = Endpoint(options.url.rstrip("/"), options.model, options.calls_at_once)
    attacks, cases = attack_cases(cases)[:: options.every], cases[:: options.every]
    if "service" in options.parts:
        measure_service(endpoint, options.templates, cases)
    if "attacks" in options.parts:
        measure_attacks(endpoint, options.templates, attacks)
    if "leaning" in options.parts:
        measure_leaning(endpoint, cases, attacks)


if __name__ == "__main__":
    main()
