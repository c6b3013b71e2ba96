"""Queries by BIRD's comparison as NeMo Gym's bird_sql has it, beside `sql`; from `make peers`."""

from __future__ import annotations

import importlib.util
import itertools
import os
import random
import sqlite3
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.interop
EVALUATION = Path(
    os.environ.get("PEER_SOURCES", ".peers"), "Gym/resources_servers/bird_sql/eval_utils.py"
)
DATABASE = "CREATE TABLE t (id INTEGER, n INTEGER, name TEXT, size REAL);" + "".join(
    f"INSERT INTO t VALUES ({one}, {one * 7 % 5}, '{'abc'[one % 3]}', {one / 4});"
    for one in range(12)
)
COLUMNS = ("id", "n", "name", "size", "count(*)", "sum(n)", "max(size)", "DISTINCT n")
CONDITIONS = ("", "WHERE id > 5", "WHERE n = 2", "WHERE name = 'a'", "WHERE size >= 1.5", "WHERE x")
ENDINGS = ("", "ORDER BY id", "ORDER BY n DESC, id", "LIMIT 3", "GROUP BY n")
QUERIES = [
    f"SELECT {column} FROM t {condition} {ending}".strip()
    for column, condition, ending in itertools.product(COLUMNS, CONDITIONS, ENDINGS)
]
NUM_PAIRS = 600


@pytest.mark.skipif(not EVALUATION.exists(), reason="`make peers` clones NeMo Gym")
def test_600_pairs_of_queries_have_the_labels_of_bird(service_url: str, tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("bird_evaluation", EVALUATION)
    assert spec is not None
    assert spec.loader is not None
    evaluation = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(evaluation)
    path = tmp_path / "database.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(DATABASE)
    rows = {query: evaluation.execute_sqlite(path, query) for query in QUERIES}
    draw, usable = random.Random(5), [query for query in QUERIES if rows[query] is not None]
    sets = {query: frozenset(rows[query]) for query in usable}
    groups: list[dict[str, Any]] = []
    labels: list[bool] = []
    while len(labels) < NUM_PAIRS:
        gold = draw.choice(usable)
        alike = [query for query in usable if sets[query] == sets[gold]]
        given = draw.choice(alike) if draw.random() < 0.4 else draw.choice(QUERIES)
        found = rows[given]
        labels.append(found is not None and evaluation.result_sets_match(rows[gold], found))
        groups.append(
            {
                "reference": {"database": DATABASE, "query": gold},
                "completions": [f"```sql\n{given}\n```"],
            }
        )
    body = {"verifiers": [{"type": "sql", "rows": "set"}], "groups": groups}
    with httpx.Client(base_url=service_url, timeout=300) as client:
        answer = client.post("/v1/score", json=body).json()
    verdicts = [one["completions"][0]["verdicts"]["sql"] for one in answer["groups"]]
    assert {one["outcome"] for one in verdicts} == {"scored"}
    assert min(labels.count(True), labels.count(False)) >= 100
    differ = [
        (group["reference"]["query"], group["completions"][0], label, verdict["reason"])
        for group, label, verdict in zip(groups, labels, verdicts, strict=True)
        if verdict["score"] != float(label)
    ]
    assert differ == []
