"""Completions a second of one worker, for each verifier of docs/tasks.md, beside the source's code.

CPU seconds are counted, ours and the peer's in turn, and the medians of the rounds' ratios shown.
A peer that is not installed is left out: jsonschema, difflib, PyYAML and sqlite3 always are;
sacrebleu, langdetect and reasoning-gym with the extras `similarity`, `instructions` and
`reasoning_gym`; rouge-score and bfcl-eval with pip (the latter with `--no-deps`); the servers of
NeMo Gym and the checkers of lm-evaluation-harness where `make peers` cloned them.

    .venv/bin/python benchmarks/task_verifiers.py
"""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from statistics import median
from types import ModuleType, SimpleNamespace
from typing import Any

import jsonschema
import yaml

from verifier_service.completion import Completion
from verifier_service.verifier import TextVerifier
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
SERVERS = Path(os.environ.get("PEER_SOURCES", ".peers"), "Gym", "resources_servers")


@dataclass(frozen=True)
class Contest:
    """A verifier with what it judges, and a peer's work on the same."""

    name: str
    verifier: TextVerifier
    reference: dict[str, Any]
    text: str
    peer_name: str
    peer: Callable[[], Any] | None


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
        Contest("instruction_following", InstructionFollowing(), constraints, TEXT, "", None),
        Contest(
            "instruction_following, language",
            InstructionFollowing(),
            {"instructions": [{"id": "language:response_language", "kwargs": {"language": "en"}}]},
            TEXT,
            "langdetect",
            _langdetect(),
        ),
        Contest(
            "tool_calls",
            ToolCalls(),
            {"tool_calls": [CALL]},
            tagged,
            "json and ==",
            lambda: json.loads(tagged[11:-12]) == CALL,
        ),
        Contest(
            "tool_calls, Python's syntax",
            ToolCalls(strings="bfcl"),
            {"tool_calls": ACCEPTED, "tools": TOOLS},
            PYTHON_CALL,
            "ast.parse and bfcl-eval",
            _bfcl(),
        ),
        Contest(
            "structured_output, json",
            StructuredOutput(),
            {"schema": SCHEMA},
            document,
            "jsonschema.validate",
            lambda: jsonschema.validate(json.loads(document), SCHEMA),
        ),
        Contest(
            "structured_output, yaml",
            StructuredOutput(format="yaml"),
            {"value": VALUE},
            as_yaml,
            "yaml.safe_load and ==",
            lambda: yaml.safe_load(as_yaml) == VALUE,
        ),
        Contest(
            "string_similarity, sequence_ratio",
            StringSimilarity(),
            similar,
            TEXT,
            "difflib",
            lambda: SequenceMatcher(None, TEXT, OTHER).ratio(),
        ),
        Contest(
            "string_similarity, rouge_l",
            StringSimilarity(metric="rouge_l"),
            similar,
            TEXT,
            "rouge-score",
            _rouge(),
        ),
        Contest("puzzle, sudoku", Puzzle(), {"puzzle": "sudoku", "grid": CLUES}, GRID, "", None),
        Contest(
            "puzzle, countdown", Puzzle(), COUNTDOWN, EXPRESSION, "reasoning-gym", _countdown()
        ),
        Contest(
            "sql",
            Sql(),
            {"database": DATABASE, "query": QUERY},
            QUERY,
            "sqlite3 and ==, which neither opens a file nor stops a query",
            lambda: sorted(connection.execute(QUERY).fetchall()) == sorted(expected),
        ),
        Contest(
            "sql, rows as a set",
            Sql(rows="set"),
            {"database": DATABASE, "query": QUERY},
            QUERY,
            "BIRD's comparison in NeMo Gym",
            _bird(),
        ),
        Contest(
            "citations",
            Citations(),
            {"citations": {"form": "ascii_brackets", "id_pattern": ID_PATTERN, "valid": VALID}},
            CITED,
            "NeMo Gym's citation_if",
            _citations(),
        ),
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


def _gym_contests() -> list[Contest]:
    """Data sets of reasoning-gym, whose scorers have ours around them or beside them."""
    try:
        from reasoning_gym import create_dataset, get_score_answer_fn  # noqa: PLC0415
    except ImportError:
        return []
    found = []
    for name in ("chain_sum", "spell_backward", "simple_equations"):
        entry = create_dataset(name, size=1, seed=1)[0]
        answer, score = str(entry["answer"]), get_score_answer_fn(name)
        found.append(
            Contest(
                f"reasoning_gym, {name}",
                ReasoningGym(),
                {"dataset": name, "entry": entry},
                answer,
                "reasoning-gym",
                lambda score=score, answer=answer, entry=entry: score(answer, entry),  # type: ignore[misc]
            )
        )
    return found


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
    """Print a row for each contest."""
    print(f"{'verifier':36} {'completions/s':>14} {'peer/s':>10} {'ratio':>6}  peer")
    for one in contests():
        # The line's end makes each verdict's answer a text of its own, as those of a group are:
        # difflib keeps what it found for the very same object.
        judge, completion = one.verifier.prepare(one.reference), Completion(one.text + "\n")
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(per_second(lambda: judge(completion)))  # noqa: B023  called at once
            if one.peer is not None:
                theirs.append(per_second(one.peer))
        shown = f"{one.name:36} {median(ours):14,.0f}"
        if theirs:
            ratio = median(one / other for one, other in zip(ours, theirs, strict=True))
            shown += f" {median(theirs):10,.0f} {ratio:6.2f}  {one.peer_name}"
        print(shown)


if __name__ == "__main__":
    main()
