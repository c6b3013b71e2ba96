"""Completions a second of one worker, for each verifier of docs/tasks.md, beside the source's code.

CPU seconds are counted, ours and the peer's in turn, and the medians of the rounds' ratios shown.
The peer is the code of the source that a verifier has its rule from, such as BIRD's evaluation for
`sql`; "a floor" is less work than any such code has: a bare loop of sqlite3, or `==`. A peer that
is not installed is left out: jsonschema, difflib, PyYAML and sqlite3 always are; sacrebleu,
langdetect and reasoning-gym with the extras `similarity`, `instructions` and `reasoning_gym`;
rouge-score and bfcl-eval with pip (the latter with `--no-deps`); the servers of NeMo Gym and the
checkers of IFEval, IF-RLVR and IFBench where `make peers` cloned them.

    .venv/bin/python benchmarks/task_verifiers.py

The environment of `make test-interop` has all of them:

    .venv-interop/bin/python -W ignore -m benchmarks.task_verifiers
"""

from __future__ import annotations

import ast
import importlib.util
import json
import logging
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from statistics import median
from types import ModuleType, SimpleNamespace
from typing import Any

import jsonschema
import yaml

from tests.interop import instruction_sources
from tests.shared_data import SharedDataMissing, read_shared_data
from verifier_service.completion import Completion
from verifier_service.verifier import Judge, TextVerifier, Unverifiable
from verifier_service.verifiers.citations import Citations
from verifier_service.verifiers.instruction_following import InstructionFollowing
from verifier_service.verifiers.puzzle import Puzzle
from verifier_service.verifiers.reasoning_gym import ReasoningGym
from verifier_service.verifiers.sql import Sql
from verifier_service.verifiers.string_similarity import StringSimilarity
from verifier_service.verifiers.structured_output import StructuredOutput
from verifier_service.verifiers.tool_calls import ToolCalls

ROUNDS = 9
ROUND_SECONDS = 0.1
SENTENCE = "the cat sat on a mat while seven big dogs ran past old houses near the sea"
WORDS = SENTENCE.split()
TEXT = " ".join(WORDS[index * 7 % len(WORDS)] for index in range(150))
OTHER = " ".join(WORDS[index * 5 % len(WORDS)] for index in range(150))
VALUE = {f"field{index}": {"name": f"n{index}", "count": index} for index in range(30)}
SCHEMA = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "count": {"type": "integer"}},
        "required": ["name", "count"],
    },
}
CALL = {"name": "find", "arguments": {"city": "Paris", "days": 3}}
PYTHON_CALL = "find(city='Paris', days=3)"
ACCEPTED = [{"find": {"city": ["Paris", "Paris, FR"], "days": [3, ""]}}]
TYPES = {"city": {"type": "string"}, "days": {"type": "integer"}}
TOOLS = [
    {"name": "find", "parameters": {"type": "dict", "properties": TYPES, "required": ["city"]}}
]
DATABASE = "CREATE TABLE t (id, n);" + "".join(
    f"INSERT INTO t VALUES ({index}, {index * 37 % 101});" for index in range(200)
)
EXPRESSION = "(5 - 2) * 7 + 3"
NUMBERS = [2, 3, 5, 7]
COUNTDOWN = {"puzzle": "countdown", "numbers": NUMBERS, "target": 24}
SOLVED = [[(3 * row + row // 3 + column) % 9 + 1 for column in range(9)] for row in range(9)]
CLUES = [[cell if cell % 3 == 0 else 0 for cell in row] for row in SOLVED]
GRID = "\n".join(" ".join(map(str, row)) for row in SOLVED)
QUERY = "SELECT n, count(*) FROM t WHERE id > 20 GROUP BY n"
ID_PATTERN = "citation_[0-9]+"
VALID = [f"citation_{number}" for number in range(20)]
CITED = f"It rained [{VALID[3]}]. {TEXT} It snowed [{VALID[5]}]."
NTH_RESPONSE = 40
GYM_PEER = "reasoning-gym: extract_answer, score_answer"
SERVERS = Path(os.environ.get("PEER_SOURCES", ".peers"), "Gym", "resources_servers")


@dataclass(frozen=True)
class Contest:
    """The work of a verifier, and a peer's work on the same completions."""

    name: str
    ours: Callable[[], Any]
    peer_name: str
    peer: Callable[[], Any] | None
    num_completions: int = 1


def _judging(verifier: TextVerifier, reference: dict[str, Any], text: str) -> Callable[[], Any]:
    """The judging of a completion, whose reference is read once.

    The line's end makes each verdict's answer a text of its own, as those of a group are: difflib
    keeps what it found for the very same object.
    """
    judge, completion = verifier.prepare(reference), Completion(text + "\n")
    return lambda: judge(completion)


def per_second(work: Callable[[], Any]) -> float:
    """Calls in a second of CPU time."""
    start, number = time.process_time(), 0
    while time.process_time() - start < ROUND_SECONDS:
        work()
        number += 1
    return number / (time.process_time() - start)


def contests() -> list[Contest]:
    """Every verifier with its peers."""
    connection = sqlite3.connect(":memory:")
    connection.executescript(DATABASE)
    expected = connection.execute(QUERY).fetchall()
    document, as_yaml = json.dumps(VALUE), yaml.safe_dump(VALUE)
    tagged = f"<tool_call>{json.dumps(CALL)}</tool_call>"
    constraints = {
        "instruction_id_list": [
            "length_constraints:number_words",
            "keywords:existence",
            "length_constraints:number_sentences",
        ],
        "kwargs": [
            {"num_words": 100, "relation": "at least"},
            {"keywords": ["cat"]},
            {"num_sentences": 3, "relation": "less than"},
        ],
    }
    similar = {"answer": OTHER}
    return [
        Contest(
            "instruction_following", _judging(InstructionFollowing(), constraints, TEXT), "", None
        ),
        Contest(
            "instruction_following, language",
            _judging(
                InstructionFollowing(),
                {
                    "instructions": [
                        {"id": "language:response_language", "kwargs": {"language": "en"}}
                    ]
                },
                TEXT,
            ),
            "langdetect",
            _langdetect(),
        ),
        Contest(
            "tool_calls",
            _judging(ToolCalls(), {"tool_calls": [CALL]}, tagged),
            "a floor: json and ==",
            lambda: json.loads(tagged[11:-12]) == CALL,
        ),
        Contest(
            "tool_calls, Python's syntax",
            _judging(
                ToolCalls(strings="bfcl"), {"tool_calls": ACCEPTED, "tools": TOOLS}, PYTHON_CALL
            ),
            "ast.parse and bfcl-eval",
            _bfcl(),
        ),
        Contest(
            "structured_output, json",
            _judging(StructuredOutput(), {"schema": SCHEMA}, document),
            "jsonschema.validate",
            lambda: jsonschema.validate(json.loads(document), SCHEMA),
        ),
        Contest(
            "structured_output, yaml",
            _judging(StructuredOutput(format="yaml"), {"value": VALUE}, as_yaml),
            "yaml.safe_load and ==",
            lambda: yaml.safe_load(as_yaml) == VALUE,
        ),
        Contest(
            "string_similarity, sequence_ratio",
            _judging(StringSimilarity(), similar, TEXT),
            "difflib",
            lambda: SequenceMatcher(None, TEXT, OTHER).ratio(),
        ),
        Contest(
            "string_similarity, rouge_l",
            _judging(StringSimilarity(metric="rouge_l"), similar, TEXT),
            "rouge-score",
            _rouge(),
        ),
        Contest(
            "puzzle, sudoku",
            _judging(Puzzle(), {"puzzle": "sudoku", "grid": CLUES}, GRID),
            "",
            None,
        ),
        Contest(
            "puzzle, countdown",
            _judging(Puzzle(), COUNTDOWN, EXPRESSION),
            "reasoning-gym",
            _countdown(),
        ),
        Contest(
            "sql",
            _judging(Sql(), {"database": DATABASE, "query": QUERY}, QUERY),
            "a floor: sqlite3 and ==, which neither opens a file nor stops a query",
            lambda: sorted(connection.execute(QUERY).fetchall()) == sorted(expected),
        ),
        Contest(
            "sql, rows as a set",
            _judging(Sql(rows="set"), {"database": DATABASE, "query": QUERY}, QUERY),
            "BIRD's comparison in NeMo Gym",
            _bird(),
        ),
        Contest(
            "citations",
            _judging(
                Citations(),
                {"citations": {"form": "ascii_brackets", "id_pattern": ID_PATTERN, "valid": VALID}},
                CITED,
            ),
            "NeMo Gym's citation_if",
            _citations(),
        ),
        *_instruction_contests(),
        *_gym_contests(),
    ]


def _langdetect() -> Callable[[], Any] | None:
    try:
        from langdetect import detect  # noqa: PLC0415
    except ImportError:
        return None
    return lambda: detect(TEXT)


def _bfcl() -> Callable[[], Any] | None:
    """BFCL's decoding of a call and its checker, without the clients of its models."""
    models = ModuleType("bfcl_eval.constants.model_config")
    models.__dict__["MODEL_CONFIG_MAPPING"] = {"any": SimpleNamespace(underscore_to_dot=False)}
    sys.modules[models.__name__] = models
    try:
        from bfcl_eval.constants.enums import Language  # noqa: PLC0415
        from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # noqa: PLC0415
    except ImportError:
        return None

    def check() -> Any:
        call = ast.parse(PYTHON_CALL, mode="eval").body
        assert isinstance(call, ast.Call)
        arguments = {one.arg: ast.literal_eval(one.value) for one in call.keywords}
        given = [{"find": arguments}]
        return ast_checker(TOOLS, given, ACCEPTED, Language.PYTHON, "simple", "any")

    return check


def _server_module(path: str) -> Any:
    """A module of a server in the clone of NeMo Gym; None where there is no clone."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, SERVERS / path)
    if spec is None or spec.loader is None or not (SERVERS / path).exists():
        return None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _bird() -> Callable[[], Any] | None:
    """Both queries on a file and their rows as sets, without the thread that ends slow ones."""
    evaluation = _server_module("bird_sql/eval_utils.py")
    if evaluation is None:
        return None
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name, "database.sqlite")
    with sqlite3.connect(path) as connection:
        connection.executescript(DATABASE)

    def compare(_: object = folder) -> Any:
        found = [evaluation.execute_sqlite(path, QUERY) for _ in range(2)]
        return evaluation.result_sets_match(*found)

    return compare


def _citations() -> Callable[[], Any] | None:
    scorer = _server_module("citation_if/scorer.py")
    if scorer is None:
        return None
    task = {"grammar": "ascii_brackets", "id_regex": ID_PATTERN, "valid_id_set": VALID}
    return lambda: scorer.score_citation_if(CITED, 0, task)


def _instruction_contests() -> list[Contest]:
    """The checkers of three sources, each on real responses, and ours with their semantics.

    A source makes its checkers again for every response; ours are made once for a group.
    """
    found = []
    try:
        rows = read_shared_data("format/ifeval_labelled.jsonl.gz")[::NTH_RESPONSE]
    except SharedDataMissing:
        return []
    for name, (folder, _) in instruction_sources.SOURCES.items():
        if not folder.exists() or not instruction_sources.NLTK_DATA.exists():
            continue
        logging.disable(logging.CRITICAL)  # langdetect's errors, by the sources
        source = instruction_sources.SourceChecks(name)
        pairs: list[tuple[str, dict[str, Any], str]] = []
        for index, constraint in enumerate(sorted(source.checkers)):
            given = instruction_sources.GIVEN.get(constraint)
            arguments = given or source.arguments(constraint, 1)
            text = rows[index % len(rows)]["response"]
            if source.verdict(constraint, arguments, text) is not None:
                pairs.append((constraint, arguments, text))
        verifier = InstructionFollowing(mode="source", part="completion")
        judging = [
            _judging(verifier, {"instructions": [{"id": constraint, "kwargs": given}]}, text)
            for constraint, given, text in pairs
        ]
        found.append(
            Contest(
                f"instruction_following, {name}",
                lambda judging=judging: [one() for one in judging],  # type: ignore[misc]
                f"{name}'s own checkers, {len(pairs)} constraints",
                lambda source=source, pairs=pairs: source.verdicts(pairs),  # type: ignore[misc]
                len(pairs),
            )
        )
    return found


def _gym_contests() -> list[Contest]:
    """The data sets of reasoning-gym: extraction of the answer and score, as its examples do it."""
    try:
        import reasoning_gym  # noqa: PLC0415
        from reasoning_gym.utils import extract_answer  # noqa: PLC0415

        from verifier_service.gym_scorers import loading  # noqa: PLC0415
    except ImportError:
        return []
    loading.load_package()  # as a worker does
    mix: list[tuple[Any, dict[str, Any], list[str]]] = []
    for name in loading.data_set_names():
        data_set = reasoning_gym.create_dataset(name, size=2, seed=3)
        entry, other = data_set[0], data_set[1]
        probe = loading.PROBES.get(name)
        right = str(entry["answer"]) if probe is None else probe(entry["metadata"])
        wrong = [right[:-1], f"{right} 1", "0", str(other["answer"])]
        answers = [*[right] * 4, *wrong]
        texts = [
            f"<think>{TEXT} {index}</think>\n<answer>{one}</answer>"
            for index, one in enumerate(answers)
        ]
        try:
            ReasoningGym().prepare(entry)
        except Unverifiable:  # a few entries' own answers are wrong for their scorers
            continue
        mix.append((data_set, entry, texts))

    def peer_of(data_set: Any, entry: dict[str, Any], texts: list[str]) -> None:
        for text in texts:
            with suppress(Exception):  # scorers raise anything, as ours has it: malformed
                data_set.score_answer(extract_answer(text), entry)

    def ours_of(judge: Judge, completions: list[Completion]) -> None:
        for one in completions:
            judge(one)

    prepared = [
        (ReasoningGym().prepare(entry), [Completion(one) for one in texts])
        for _, entry, texts in mix
    ]
    contests_of_sets = [
        Contest(
            f"reasoning_gym, {data_set.config.__class__.__module__.split('.')[-1]}",
            partial(ours_of, *ours),
            GYM_PEER,
            partial(peer_of, data_set, entry, texts),
            len(texts),
        )
        for (data_set, entry, texts), ours in zip(mix, prepared, strict=True)
    ]

    def every_peer() -> None:
        for one in mix:
            peer_of(*one)

    def every_ours() -> None:
        for one in prepared:
            ours_of(*one)

    def with_references() -> None:
        for _, entry, texts in mix:
            ours_of(ReasoningGym().prepare(entry), [Completion(one) for one in texts])

    number = sum(len(texts) for _, _, texts in mix)
    together = f"{GYM_PEER}, {len(mix)} data sets"
    return [
        Contest("reasoning_gym, all together", every_ours, together, every_peer, number),
        Contest("the same, references read", with_references, together, every_peer, number),
        *contests_of_sets,
    ]


def _rouge() -> Callable[[], Any] | None:
    try:
        from rouge_score.rouge_scorer import RougeScorer  # noqa: PLC0415
    except ImportError:
        return None
    scorer = RougeScorer(["rougeL"])
    return lambda: scorer.score(OTHER, TEXT)


def _countdown() -> Callable[[], Any] | None:
    try:
        from reasoning_gym import get_score_answer_fn  # noqa: PLC0415
    except ImportError:
        return None
    score = get_score_answer_fn("countdown")
    entry = {"metadata": {"numbers": NUMBERS, "target": 24}}
    return lambda: score(EXPRESSION, entry)


def main() -> None:
    """Print a row for each contest, but one for reasoning-gym's data sets each alone."""
    print(f"{'verifier':36} {'completions/s':>14} {'peer/s':>10} {'ratio':>6}  peer")
    of_data_sets: list[float] = []
    for one in contests():
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(per_second(one.ours) * one.num_completions)
            if one.peer is not None:
                theirs.append(per_second(one.peer) * one.num_completions)
        ratio = median(a / b for a, b in zip(ours, theirs, strict=True)) if theirs else None
        if ratio is not None and one.peer_name == GYM_PEER:
            of_data_sets.append(ratio)
            continue
        shown = f"{one.name:36} {median(ours):14,.0f}"
        if ratio is not None:
            shown += f" {median(theirs):10,.0f} {ratio:6.2f}  {one.peer_name}"
        print(shown, flush=True)
    if of_data_sets:
        of_data_sets.sort()
        print(
            f"reasoning_gym, each data set alone: ratios {of_data_sets[0]:.2f} to "
            f"{of_data_sets[-1]:.2f}, median {median(of_data_sets):.2f}, "
            f"{sum(one >= 1 for one in of_data_sets)} of {len(of_data_sets)} at least 1"
        )


if __name__ == "__main__":
    main()
