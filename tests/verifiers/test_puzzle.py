"""`puzzle`: solutions of every kind, hostile answers beside honest ones, and references."""

from __future__ import annotations

import json
import re
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import permutations, product
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.growth import assert_linear
from tests.shared_data import shared_data
from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.puzzles.arithmetic import BadExpression, read_arithmetic
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.puzzle import MAX_ANSWER_CHARACTERS, Puzzle

COUNTDOWN = {"puzzle": "countdown", "numbers": [3, 5, 7, 2], "target": 24}
SOME = {**COUNTDOWN, "use": "some"}
SOLVED_4 = [[1, 2, 3, 4], [3, 4, 1, 2], [2, 1, 4, 3], [4, 3, 2, 1]]
SUDOKU = {
    "puzzle": "sudoku",
    "grid": [[1, 0, 0, 4], [0, 0, 1, 0], [0, 1, 0, 0], [4, 0, 0, 1]],
}
OTHER_4 = [[1, 3, 2, 4], [2, 4, 1, 3], [3, 1, 4, 2], [4, 2, 3, 1]]
HOUSES = {"House 1": {"Pet": "Cat", "Drink": "Tea"}, "House 2": {"Pet": "Dog", "Drink": 7}}
ZEBRA = {"puzzle": "cells", "cells": HOUSES}
ARC = {"puzzle": "grid", "grid": [[1, 0, 2], [0, 0, 0]]}
ORDER = {"puzzle": "order", "order": ["Ann", "Bob", "Cy"]}
NODES = {"puzzle": "set", "items": ["a", "b", "c"]}
EDGES = {"puzzle": "edges", "edges": [["a", "b"], ["b", "c"]]}
POINT = {"puzzle": "point", "point": [0.5, 0.3], "max_distance": 0.1, "scale": 1000}
TAGGED = {**POINT, "tagged": True}
BOX = {"puzzle": "point", "box": [10, 20, 30, 40]}
SCHEDULE = {
    "puzzle": "schedule",
    "events": [
        {"id": "a", "duration": 60, "earliest": "9:00", "latest": "12pm"},
        {"id": "b", "duration": 30, "start": "10:00"},
    ],
}
EMPTY_9 = {"puzzle": "sudoku", "grid": [[0] * 9 for _ in range(9)]}


def outcome(reference: dict[str, Any], text: str, **options: Any) -> tuple[float, str]:
    found = judge(Puzzle(**options), reference, text)
    return found.score, found.reason.value


def planned(*events: tuple[Any, Any, Any]) -> str:
    names = ("event_id", "start_time", "duration")
    return json.dumps([dict(zip(names, event, strict=True)) for event in events])


RIGHT: list[tuple[dict[str, Any], str]] = [
    (SCHEDULE, planned(("a", "9:00", 60), ("b", "10:00", 30))),
    (SCHEDULE, "So: " + planned(("b", "10am", 30), ("A", "11:00 AM", 60.0))),
    (COUNTDOWN, "(5 - 2) * 7 + 3"),
    (COUNTDOWN, "So:\nAnswer: (5 - 2) * 7 + 3 = 24"),
    (COUNTDOWN, r"Thus $\boxed{(5 - 2) \times 7 + 3}$."),
    (COUNTDOWN, r"\( (5 - 2) \cdot 7 + 3 = 24 \)"),
    (COUNTDOWN, "<think>(1)</think><answer>3+7×(5−2)</answer>"),  # noqa: RUF001
    (COUNTDOWN, "```\n3 + 7 * (5 - 2)\n```"),
    (COUNTDOWN, "The answer is (5 - 2) * 7 + 3 = 24."),
    (COUNTDOWN, "So we get (5 - 2) * 7 + 3"),
    (COUNTDOWN, "24 = (5 - 2) * 7 + 3"),
    (COUNTDOWN, "(5 - 2) * 7 + 3 = 24 ✓"),
    (COUNTDOWN, "(5 - 2) * 7 + 3 equals 24."),
    (COUNTDOWN, "(5 - 2) * 7 + 3 = 24, which is the target."),
    (COUNTDOWN, r"Therefore $(5 - 2) \times 7 + 3 = 24$, as required."),
    (COUNTDOWN, "So:\n(5 - 2) * 7 + 3 = 24\nThis works."),
    (COUNTDOWN, "(5 − 2) ⋅ 7 + 3\r\n"),  # noqa: RUF001
    (COUNTDOWN, "3 ∗ 5 + 7 + 2"),  # noqa: RUF001
    (SOME, "7 * 3 + 5 - 2"),
    (SOME, "3 + 7 * (5 - 2)"),
    (SUDOKU, json.dumps(SOLVED_4)),
    (SUDOKU, json.dumps(OTHER_4)),
    (SUDOKU, "The grid:\n1 2 | 3 4\n3 4 | 1 2\n----+----\n2 1 | 4 3\n4 3 | 2 1\n"),
    (SUDOKU, "1234\n3412\n2143\n4321"),
    (SUDOKU, "1234\n3412\n2143\n4321\n\nAll rows, columns and boxes are complete."),
    (SUDOKU, "| 1 | 2 | 3 | 4 |\n|---|---|---|---|\n| 3 | 4 | 1 | 2 |\n|2|1|4|3|\n|4|3|2|1|"),
    ({**SUDOKU, "grid": ["1..4", "__1_", "0100", "4..1"]}, json.dumps(SOLVED_4)),
    (ZEBRA, json.dumps(HOUSES)),
    (ZEBRA, json.dumps({"reasoning": "The cat {is} in house 1.", "solution": HOUSES})),
    (ZEBRA, f"So:\n```json\n{json.dumps({'Answer': HOUSES})}\n```"),
    ({"puzzle": "cells", "cells": {"answer": {"a": 1}}}, '{"answer": {"a": 1}}'),
    (
        ZEBRA,
        '{"house 2": {"drink": "7", "pet": "DOG"}, "house 1": {"drink": "tea ", "pet": "cat"}}',
    ),
    (
        ZEBRA,
        "So {'header': ['House', 'Pet', 'Drink'], 'rows': [['1', 'Cat', 'Tea'], [2, 'Dog', 7]]}",
    ),
    (ARC, "[[1, 0, 2], [0, 0, 0]]"),
    (ARC, "Input:\n1 1 1\n0 0 0\nOutput:\n1 0 2\n0 0 0"),
    (ARC, "```\n102\n000\n```"),
    (ARC, "Input:\n```\n3 2\n```\nSo \\boxed{[[1,0,2],[0,0,0]]}"),
    (ARC, "Input:\n```\n3 2\n```\nSo [[1,0,2],[0,0,0]]."),
    (ORDER, '["Ann", "Bob", "Cy"]'),
    (ORDER, "The order is Ann, then ...\nOrder: Ann > Bob > Cy"),
    (ORDER, "1. Ann\n2. **Bob**\n3. Cy"),
    (ORDER, r"\boxed{[Ann, Bob, Cy]}"),
    (ORDER, "Ann, Bob, and Cy"),
    (ORDER, "The order is: Ann; Bob; Cy."),
    (SUDOKU, "Row 1: 1 2 3 4\nRow 2: 3 4 1 2\nRow 3: 2 1 4 3\nRow 4: 4 3 2 1"),
    (NODES, "Final Answer: [c, b, a]"),
    (NODES, '["a", "b", "c", "a"]'),
    (NODES, "The nodes are: {a, c, b}."),
    (NODES, r"Thus: $\{a, b, c\}$"),
    (NODES, "So: (c, b, a)"),
    (ZEBRA, json.dumps(HOUSES) + " follows from clues [1] and [2]."),
    (EDGES, '[["b", "a"], ["c", "b"]]'),
    (EDGES, "The edges: (b, c), (a, b)"),
    (POINT, "Not (1, 1) but <point>(500, 300)</point>"),
    (POINT, "[500, 300.0]"),
    (BOX, "click(10, 40)"),
    (TAGGED, "(1, 1) <point> [(500, 300)] </point> (2, 2)"),
]


@pytest.mark.parametrize(("reference", "text"), RIGHT)
def test_a_solution_scores_1(reference: dict[str, Any], text: str) -> None:
    assert outcome(reference, text) == (1, "solved")
    assert outcome(reference, text, scoring="parts") == (1, "solved")


HOSTILE: list[tuple[dict[str, Any], str, str]] = [
    (SCHEDULE, planned(("a", "9:30", 60), ("b", "10:00", 30)), "different"),  # overlap
    (SCHEDULE, planned(("a", "9:00", 1), ("b", "10:00", 30)), "different"),
    (SCHEDULE, planned(("a", "11:30", 60), ("b", "10:00", 30)), "different"),
    (SCHEDULE, planned(("b", "10:00", 30)), "different"),
    (SCHEDULE, planned(("a", "9:00", 60), ("b", "10:00", 30), ("c", "11:00", 5)), "different"),
    (
        SCHEDULE,
        planned(("a", "9:00", 60), ("a", "10:30", 60), ("b", "10:00", 30)),
        "malformed",
    ),
    (SCHEDULE, planned(("a", "9:00", -60), ("b", "10:00", 30)), "malformed"),
    (SCHEDULE, planned(("a", "9:00", True), ("b", "10:00", 30)), "malformed"),
    (SCHEDULE, planned(("a", "09:00:00", 60), ("b", "10:00", 30)), "malformed"),
    (SCHEDULE, planned(("a", 540, 60), ("b", "10:00", 30)), "malformed"),
    (SCHEDULE, "[" + "[]," * 99 + "[]]", "malformed"),
    (SCHEDULE, '{"a": "9:00"}', "malformed"),
    (COUNTDOWN, "24", "other_numbers"),
    (COUNTDOWN, "3 * 7 + 5 - 2 + 0", "other_numbers"),
    (COUNTDOWN, "(5 - 2) * 7 + 3 + 2 - 2", "other_numbers"),
    (COUNTDOWN, "7 * 3 + 3", "other_numbers"),
    (COUNTDOWN, "35 - 7 - 2 * 2", "other_numbers"),
    (COUNTDOWN, "3 * 5 + 7 * 2 = 24", "different"),
    (COUNTDOWN, "3 * 5 + 7 + 2 = 25", "malformed"),
    (COUNTDOWN, "3 * 5 + 7 + 2 = 24, which is wrong.", "malformed"),
    (COUNTDOWN, "3 * 5 + 7 + 2 = 25 ✓", "malformed"),
    (COUNTDOWN, "24 ✓", "other_numbers"),
    (SUDOKU, "1234\n3412\n2143\n4321\nThis is not right.", "malformed"),
    (COUNTDOWN, "(5 - 2) * 7 + 3 = 24 = 24", "malformed"),
    (COUNTDOWN, "24 = 24", "other_numbers"),
    (COUNTDOWN, "25 = (5 - 2) * 7 + 3", "malformed"),
    (COUNTDOWN, "24 = 3 * 5 + 7 + 3", "other_numbers"),
    (COUNTDOWN, "It is 3 * 8 or is (5 - 2) * 7 + 3", "malformed"),
    (COUNTDOWN, "(5 - 2) * 7 + 3 or 3 * 5 + 7 + 2", "malformed"),
    (COUNTDOWN, "(5 - 2) * 7 + 3\nor 3 * 8", "malformed"),
    (COUNTDOWN, "The answer is not 3 * 5 + 7 + 2", "malformed"),
    (COUNTDOWN, "It is (5 - 2) * 7 + 3\nIt is 3 * 8", "other_numbers"),
    (COUNTDOWN, "3 ** 5 - 7 - 2", "malformed"),
    (COUNTDOWN, "__import__('os').system('true')", "malformed"),
    (COUNTDOWN, "int('24') + 0 * 3 * 5 * 7 * 2", "malformed"),
    (COUNTDOWN, "3 * 5 + 7 + 2 # 24", "malformed"),
    (COUNTDOWN, "3 * 5 / (7 - 7) + 2", "malformed"),
    (COUNTDOWN, "3.0 * 5 + 7 + 2.0", "malformed"),
    (COUNTDOWN, "9" * 40_000, "malformed"),
    (COUNTDOWN, "(" * 400 + "3" + ")" * 400, "malformed"),
    (COUNTDOWN, "-" * 400 + "3", "malformed"),
    (COUNTDOWN, "３ * 5 + 7 + 2", "malformed"),  # noqa: RUF001
    (COUNTDOWN, "3\x00* 5 + 7 + 2", "malformed"),
    (COUNTDOWN, "3 5 7 2", "malformed"),
    (COUNTDOWN, "\ud800", "malformed"),
    (COUNTDOWN, "x" * 50_001, "too_long"),
    (SOME, "7 * 3 + 3", "other_numbers"),
    (SUDOKU, json.dumps(SUDOKU["grid"]), "different"),
    (SUDOKU, json.dumps(SOLVED_4[::-1]), "other_clues"),
    (SUDOKU, json.dumps([[1, 4, 4, 4], [4, 4, 1, 4], [4, 1, 4, 4], [4, 4, 4, 1]]), "different"),
    (SUDOKU, json.dumps([[1, 2, 3, 4]] * 5), "malformed"),
    (SUDOKU, json.dumps([*SOLVED_4[:3], [4, 3, 2]]), "malformed"),
    (SUDOKU, json.dumps([*SOLVED_4[:3], [4, 3, 2, [1]]]), "malformed"),
    (SUDOKU, json.dumps(SOLVED_4).replace("2", "NaN"), "malformed"),
    (SUDOKU, "[" * 20_000 + "]" * 20_000, "malformed"),
    (SUDOKU, "-" * 49_000 + "x", "malformed"),
    (SUDOKU, "1 " * 24_000, "malformed"),
    (SUDOKU, "1234\n3412\nor\n2143\n4321", "malformed"),
    (ZEBRA, '{"House 1": {"Pet": ["Cat", "Dog"], "Drink": "Tea"}}', "malformed"),
    (ZEBRA, '{"House 1": {"Pet": "Cat or Dog", "Drink": "Tea"}}', "different"),
    (ZEBRA, '{"House 1": {"Pet": "Cat", "pet": "Dog"}}', "malformed"),
    (ZEBRA, '{"a":' * 5_000 + "1" + "}" * 5_000, "malformed"),
    (ZEBRA, json.dumps({**HOUSES, "House 3": {"Pet": "Cow"}}), "different"),
    (ZEBRA, "{" * 40_000, "malformed"),
    (ZEBRA, json.dumps({"answer": HOUSES, "solution": HOUSES}), "different"),
    (ZEBRA, json.dumps({"draft": {}, "solution": HOUSES}), "different"),
    (ZEBRA, json.dumps({"house 1": "Cat", "solution": {"House 1": {"Pet": "Cow"}}}), "different"),
    (ZEBRA, '{"header": ["House", "Pet"], "rows": [["1", "Cat"], ["1", "Dog"]]}', "malformed"),
    (ARC, "[[1, 0, 2], [0, 0, 0], [0, 0, 0]]", "different"),
    (ARC, "[[1, 0], [0, 0]]", "different"),
    (ARC, "[[1, 0, 2], [0, 0, null]]", "malformed"),
    (ARC, "no grid", "malformed"),
    (ARC, "[[true, false, 2], [0, 0, 0]]", "different"),
    (ORDER, '["Ann", "Cy", "Bob"]', "different"),
    (ORDER, '["Ann", "Bob", "Cy", "Ann"]', "different"),
    (ORDER, '[["Ann", "Bob", "Cy"]]', "malformed"),
    (ORDER, "Ann > Bob > Cy or Bob > Ann > Cy", "different"),
    (ORDER, "Ann, Bob, and", "different"),
    (ORDER, "Ann; Bob; Cy; Ann", "different"),
    (SUDOKU, "Row 1: 1 2 3 4\nRow 2: 3 4 1 2\nRow 4: 4 3 2 1", "malformed"),
    (ORDER, "[" + "Ann, " * 9_000 + "Bob]", "different"),
    (NODES, json.dumps([chr(97 + number) for number in range(26)]), "different"),
    (NODES, "[" + "a, " * 15_000 + "]", "malformed"),
    (NODES, '{"a": 1, "b": 2}', "different"),
    (EDGES, "(a, b), (b, c), (a, c)", "different"),
    (POINT, "(500, 300) or (1, 1)", "different"),
    (POINT, "(0.5, 0.3)", "different"),
    (POINT, "(nan, nan)", "malformed"),
    (POINT, "(1e999, 300)", "malformed"),
    (POINT, "(" + "9" * 40_000 + ", 300)", "malformed"),
    (POINT, "( " * 20_000 + " " * 9_000, "malformed"),
    (TAGGED, "(500, 300)", "malformed"),
    (TAGGED, "<point>(500, 300)", "malformed"),
    (TAGGED, "<point>" + " " * 45_000, "malformed"),
    (TAGGED, "<point>" * 7_000, "malformed"),
    (TAGGED, "<point>(" + " " * 20_000 + "1" + " " * 20_000 + "</point>", "malformed"),
    (BOX, "(10, 41)", "different"),
    (BOX, "10, 40", "malformed"),
    (ZEBRA, f'{json.dumps(HOUSES)[:-1]}, "House 1": {{}}}}', "malformed"),
    (ZEBRA, json.dumps(HOUSES).replace('"Cat"', '"Dog", "Pet": "Cat"'), "malformed"),
    (ZEBRA, str(HOUSES).replace("'Cat'", "'Dog', 'Pet': 'Cat'"), "malformed"),
    (ZEBRA, str(HOUSES).replace("7", f"0x{'f' * 5000}"), "malformed"),
    (ORDER, f"['Ann', 'Bob', 0x{'f' * 5000}]", "different"),
    (EDGES, "(" * 40_000, "malformed"),
    (EDGES, "(a," * 12_000, "malformed"),
    (EDGES, json.dumps(list(map(list, product("abc", repeat=2)))), "different"),
]


@pytest.mark.parametrize(
    ("items", "text", "other"),
    [
        (["He woke.", "He ate."], "1. He woke.\n2. He ate.", "1. He ate.\n2. He woke."),
        (["He woke.", "He ate."], '["He woke.", "He ate."]', '["He ate.", "He woke."]'),
        (["He woke", "He ate"], "- **He woke.**\n- He ate.", "- He woke.\n- He sat."),
        ([".5", "5"], "1. .5\n2. 5", "1. 5\n2. 5"),
        ([".5", "5"], ".5 > 5", "5 > .5"),
    ],
)
def test_a_period_ends_an_item_and_begins_a_number(items: Any, text: str, other: str) -> None:
    assert outcome({"puzzle": "order", "order": items}, text) == (1, "solved")
    assert outcome({"puzzle": "order", "order": items}, other) == (0, "different")
    assert outcome({"puzzle": "set", "items": items}, text) == (1, "solved")


@pytest.mark.parametrize(("reference", "text", "reason"), HOSTILE)
def test_a_hostile_answer_scores_0(reference: dict[str, Any], text: str, reason: str) -> None:
    assert outcome(reference, text) == (0, reason)


PIECES = ("[", "{", "(", "( ", "(a,", "-", "1 ", "a, ", "<point>", "<point>(", '{"a":', "9", "a > ")


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("reference", [COUNTDOWN, SUDOKU, ZEBRA, ARC, ORDER, NODES, EDGES, TAGGED])
def test_time_grows_with_the_length_and_no_faster(reference: dict[str, Any], piece: str) -> None:
    judged = partial(outcome, reference)
    assert_linear(judged, piece, after="x", num_characters=MAX_ANSWER_CHARACTERS - 1)


@pytest.mark.parametrize(
    ("reference", "text", "share"),
    [
        (SUDOKU, json.dumps([*SOLVED_4[:3], [4, 2, 3, 1]]), 8 / 12),
        (SUDOKU, json.dumps(SOLVED_4[::-1]), 0),
        (ZEBRA, '{"House 1": {"Pet": "Cat", "Drink": "Tea"}}', 1 / 2),
        (ZEBRA, json.dumps({**HOUSES, "House 3": {"Pet": "Cow"}}), 4 / 5),
        (ARC, "[[1, 0, 2], [0, 0, 9]]", 5 / 6),
        (ARC, "[[1, 0], [0, 0]]", 0),
        (ORDER, "Ann > Cy > Bob", 1 / 3),
        (ORDER, "Ann, Bob", 2 / 3),
        (NODES, "[a, b, x]", 2 / 3),
        (EDGES, "(a, b), (b, c), (a, c)", 4 / 5),
        (EDGES | {"directed": True}, "(b, a), (b, c)", 1 / 2),
        (COUNTDOWN, "3 * 5 + 7 - 2", 0),
        (POINT, "(601, 300)", 0),
        (BOX, "(0, 0)", 0),
    ],
)
def test_a_part_has_its_share(reference: dict[str, Any], text: str, share: float) -> None:
    found = judge(Puzzle(scoring="parts"), reference, text)
    assert found.score == pytest.approx(share)
    assert outcome(reference, text)[0] == 0


def test_a_near_point_is_a_solution_whose_part_falls_with_the_distance() -> None:
    assert outcome(POINT, "(550, 300)") == (1, "solved")
    found = judge(Puzzle(scoring="parts"), POINT, "(550, 300)")
    assert found.score == pytest.approx(0.25)
    assert found.reason.value == "partly_solved"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_answer"),
        ("<think>3 + 7 * (5 - 2)", "no_answer"),
        ("<answer>1</answer><answer>3 + 7 * (5 - 2)</answer>", "ambiguous_answer"),
    ],
)
def test_a_reason_says_why_there_is_no_answer(text: str, reason: str) -> None:
    assert outcome(COUNTDOWN, text) == (0, reason)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({}, "reference.puzzle is needed"),
        ({"puzzle": "schedule", "events": []}, "reference.events is empty"),
        ({"puzzle": "schedule", "events": "x"}, "found a text"),
        ({"puzzle": "schedule", "events": [{"id": "a"}]}, "events.0.duration"),
        ({"puzzle": "schedule", "events": [{"duration": 5}]}, "events.0: expected an object"),
        (
            {"puzzle": "schedule", "events": [{"id": "a", "duration": 5, "latest": "noon"}]},
            "events.0.latest: expected a time",
        ),
        (
            {"puzzle": "schedule", "events": [{"id": "a", "duration": 5}] * 2},
            "two have the same `id`",
        ),
        (
            {
                "puzzle": "schedule",
                "events": [{"id": "a", "duration": 60, "earliest": "9:00", "latest": "9:30"}],
            },
            "reference.events.0: its window of time is too short",
        ),
        (
            {"puzzle": "schedule", "events": [{"id": "a", "duration": 60, "start": "23:30"}]},
            "reference.events.0: its window of time is too short",
        ),
        (
            {"puzzle": "schedule", "events": [{"id": "a", "duration": 60, "lastest": "12:00"}]},
            "events.0: no name 'lastest'; did you mean 'latest'?",
        ),
        (
            {"puzzle": "schedule", "events": [{"id": "a", "duration": 60, "start_time": "9:00"}]},
            "events.0: no name 'start_time'; did you mean 'start'?",
        ),
        ({"puzzle": 1}, "reference.puzzle: found a number"),
        ({"puzzle": "sudoko"}, "did you mean"),
        ({"puzzle": "countdown", "target": 1}, "reference.numbers is needed"),
        ({"puzzle": "countdown", "numbers": [1]}, "reference.target is needed"),
        ({"puzzle": "countdown", "numbers": [1.5], "target": 1}, "whole numbers"),
        ({"puzzle": "countdown", "numbers": [True], "target": 1}, "whole numbers"),
        ({"puzzle": "countdown", "numbers": [10**13], "target": 1}, "whole numbers"),
        ({"puzzle": "countdown", "numbers": [1], "target": "1"}, "found a text"),
        ({**COUNTDOWN, "use": "any"}, "expected all or some"),
        ({"puzzle": "sudoku"}, "reference.grid is needed"),
        ({"puzzle": "sudoku", "grid": [[1, 2]]}, "as many rows as columns"),
        ({"puzzle": "sudoku", "grid": [1, 2]}, "a list of rows"),
        ({"puzzle": "sudoku", "grid": [[3, 0], [0, 0]]}, "numbers from 1 to 2"),
        ({"puzzle": "sudoku", "grid": [[1, 1], [0, 0]]}, "two equal clues"),
        ({**SUDOKU, "box": [4]}, "its rows and its columns"),
        ({**SUDOKU, "box": [3, 3]}, "a box of 4 cells"),
        ({"puzzle": "cells"}, "reference.cells is needed"),
        ({"puzzle": "cells", "cells": "text"}, "no object"),
        ({"puzzle": "cells", "cells": {"a": [1]}}, "neither text nor number"),
        ({"puzzle": "grid", "grid": [[[1]]]}, "neither text nor number"),
        ({"puzzle": "grid", "grid": [[1] * 10_001]}, "at most 10000 cells"),
        ({"puzzle": "order", "order": "Ann"}, "expected a list"),
        ({"puzzle": "set", "items": []}, "reference.items is empty"),
        ({"puzzle": "set", "items": ["a", " "]}, "an item is empty"),
        ({"puzzle": "set", "items": [None]}, "neither text nor number"),
        ({"puzzle": "edges", "edges": [["a"]]}, "a list of pairs"),
        ({**EDGES, "directed": 1}, "expected true or false"),
        ({"puzzle": "point"}, "reference.point is needed"),
        ({"puzzle": "point", "point": [1, 2]}, "reference.max_distance: found null"),
        ({**POINT, "max_distance": 0}, "a number above 0"),
        ({**POINT, "scale": 0}, "a number above 0"),
        ({**POINT, "point": [1]}, "expected 2 numbers"),
        ({**POINT, "tagged": 1}, "expected true or false"),
        ({**BOX, "box": [3, 2, 1, 0]}, "[left, top, right, bottom]"),
        ({**BOX, "box": [1, 2, "3", 4]}, "found a text"),
    ],
)
def test_a_wrong_reference_is_named(reference: dict[str, Any], message: str) -> None:
    with pytest.raises(Unverifiable, match=re.escape(message)):
        judge(Puzzle(), reference, "text")


EXPRESSIONS = st.recursive(
    st.integers(0, 99).map(str),
    lambda inner: st.tuples(inner, st.sampled_from("+-*/"), inner).map(
        lambda parts: f"({parts[0]} {parts[1]} {parts[2]})"
    ),
    max_leaves=8,
)


@given(EXPRESSIONS)
def test_an_expression_has_pythons_value(text: str) -> None:
    exact = re.sub(r"\d+", r"Fraction(\g<0>)", text)
    try:
        expected = eval(exact, {"Fraction": Fraction})
    except ZeroDivisionError:
        with pytest.raises(BadExpression, match="division by 0"):
            read_arithmetic(text)
        return
    found = read_arithmetic(text)
    assert (found.value, list(found.numbers)) == (
        expected,
        [int(one) for one in re.findall(r"\d+", text)],
    )


@given(
    st.text(max_size=60),
    st.sampled_from([COUNTDOWN, SUDOKU, ZEBRA, ARC, ORDER, NODES, EDGES, POINT, BOX, EMPTY_9]),
)
def test_any_text_has_a_score(text: str, reference: dict[str, Any]) -> None:
    assert 0 <= outcome(reference, text, scoring="parts")[0] <= 1


def test_every_grid_that_keeps_the_rules_solves_an_empty_sudoku() -> None:
    base = [[(3 * row + row // 3 + column) % 9 + 1 for column in range(9)] for row in range(9)]
    for rows in permutations((0, 1, 2)):
        grid = [base[row] for row in (*rows, 3, 4, 5, 6, 7, 8)]
        assert outcome(EMPTY_9, json.dumps(grid)) == (1, "solved")
    swapped = [base[row] for row in (3, 1, 2, 0, 4, 5, 6, 7, 8)]
    assert outcome(EMPTY_9, json.dumps(swapped)) == (0, "different")


def test_a_box_may_have_other_sides() -> None:
    six = [[(2 * (row % 3) + row // 3 + column) % 6 + 1 for column in range(6)] for row in range(6)]
    empty = [[None] * 6 for _ in range(6)]
    tall = {"puzzle": "sudoku", "grid": empty, "box": [3, 2]}
    assert outcome(tall, json.dumps(six)) == (1, "solved")
    assert outcome({"puzzle": "sudoku", "grid": empty}, json.dumps(six)) == (0, "different")


def test_workers_check(http: httpx.Client) -> None:
    found = verdicts(http, {"type": "puzzle"}, "(5 - 2) * 7 + 3", "24", **COUNTDOWN)
    assert [one["reason"] for one in found] == ["solved", "other_numbers"]


def test_countdown_has_the_labels_of_real_completions() -> None:
    """916 completions of 11 models; those that differ have tags with different answers."""
    reasons = Counter[tuple[bool, str]]()
    for row in shared_data("format/countdown.jsonl.gz"):
        reference = {**COUNTDOWN, "numbers": row["numbers"], "target": row["target"]}
        score, reason = outcome(reference, row["completion"], part="answer_tag")
        reasons[bool(score) == row["label"], reason] += 1
    assert sum(number for (is_equal, _), number in reasons.items() if is_equal) == 907
    assert reasons[False, "ambiguous_answer"] == 9
    assert reasons.total() == 916
