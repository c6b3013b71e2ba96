"""`sql`: rows of queries on databases in memory, and queries that do more than read."""

from __future__ import annotations

import base64
import sqlite3
import string
from contextlib import closing
from typing import Any

import httpx
import pytest

from tests.growth import assert_linear
from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.sql import Sql, query_in

SCHEMA = """
CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, people INTEGER, area REAL);
INSERT INTO city VALUES (1, 'Paris', 2100, 105.4), (2, 'Rome', 2800, 1285.0);
INSERT INTO city VALUES (3, 'Oslo', 700, 454.0);
CREATE TABLE visit (city INTEGER, year INTEGER);
INSERT INTO visit VALUES (1, 2020), (1, 2021), (3, 2020);
"""
LARGE = "SELECT name FROM city WHERE people > 1000"
REFERENCE: dict[str, Any] = {"database": SCHEMA, "query": LARGE}


def outcome(text: str, reference: dict[str, Any] = REFERENCE, **options: Any) -> tuple[float, str]:
    found = judge(Sql(**options), reference, text)
    return found.score, found.reason.value


@pytest.mark.parametrize(
    "text",
    [
        LARGE,
        LARGE + ";",
        f"So:\n```sql\n{LARGE};\n```\n",
        f"<think>SELECT 1</think>\n```sqlite\n{LARGE}\n```",
        "select name from city where people >= 1001 order by id desc",
        "WITH big AS (SELECT * FROM city WHERE people > 1000) SELECT name FROM big",
        "-- large ones\nSELECT name FROM city c WHERE c.people / 1000.0 > 1",
        "SELECT 'Rome' UNION ALL SELECT name FROM city WHERE id = 1",
        f"SQL: {LARGE}",
        f"SQLQuery: {LARGE};",
        f"**Answer:**\n{LARGE}",
        f"The query is: {LARGE};",
        f"`{LARGE}`",
        f"Answer: `{LARGE};`",
        f"{LARGE};\n\nThis query selects the names of large cities.",
        f"{LARGE};\r\n".replace("\r\n", "\n\n") + "It reads one table.\nNothing else.",
        f"```sqlite3\n{LARGE}\n```",
        f"{LARGE}; -- the large ones",
        f"Here is the query that you asked for:\n\n{LARGE};\n\nIt reads one table.",
        f"**Here it is:**\n{LARGE}",
        f"### The query\n\n{LARGE}",
        f"{LARGE};\nThis query selects the names of large cities.",
        f"{LARGE}\n\nExplanation: large is above 1000.",
        f"{LARGE}\n\n**Note:** names may repeat.",
        "SELECT name FROM city\n\nWhere people > 1000",
        "SELECT name FROM city\n\nGroup By name\n\nHaving max(people) > 1000",
    ],
)
def test_a_query_with_the_wanted_rows_scores(text: str) -> None:
    assert outcome(text) == (1, "equal")


@pytest.mark.parametrize("query", ["SELECT -0.0", "SELECT 0", "SELECT 0.0", "SELECT 1e-300 * 0"])
def test_zero_has_one_value(query: str) -> None:
    assert outcome(query, {"database": SCHEMA, "query": "SELECT 0"}) == (1, "equal")


@pytest.mark.parametrize("query", ["SELECT '0'", "SELECT x'30'", "SELECT NULL", "SELECT '0.0'"])
def test_a_zero_is_no_text(query: str) -> None:
    assert outcome(query, {"database": SCHEMA, "query": "SELECT 0"}) == (0, "different")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT name FROM city", "different"),
        ("SELECT name, id FROM city WHERE people > 1000", "different"),
        ("SELECT name FROM city WHERE people > 1000 UNION ALL SELECT 'Rome'", "different"),
        ("SELECT name FROM city WHERE people > 10000", "different"),
        ("SELECT upper(name) FROM city WHERE people > 1000", "different"),
        ("SELECT nme FROM city", "invalid"),
        ("SELECT name FROM cities", "invalid"),
        ("SELECT", "invalid"),
        ("I would select the large cities.", "no_answer"),
        (f"SELECT 1;\n\nOr else: {LARGE}", "not_allowed"),
        (f"{LARGE};\n\n{LARGE}", "not_allowed"),
        (f"{LARGE};\n\ndrop table city", "not_allowed"),
        (f"{LARGE};\n\nAlternatively `select 1`", "not_allowed"),
        (f"{LARGE};\n\nThen run it; done.", "not_allowed"),
        (f"{LARGE}; SELECT 1;\n\nThis query selects names.", "not_allowed"),
        (f"No SQL: {LARGE}", "no_answer"),
        (f"SELECT 1;\nOr {LARGE}", "not_allowed"),
        (f"SELECT 1\n\nNote: or {LARGE}", "invalid"),
        (f"First:\nSELECT 1\n\nThen:\n{LARGE}", "invalid"),
        (f"{LARGE};\n\nDelete from city", "not_allowed"),
        (f"It is large. {LARGE}", "no_answer"),
        ("SQL: DROP TABLE city", "no_answer"),
        (f"`SELECT 1` or `{LARGE}`", "no_answer"),
        ("", "no_answer"),
        ("<think>SELECT name", "no_answer"),
        ("<answer>SELECT 1</answer><answer>SELECT 2</answer>", "ambiguous_answer"),
    ],
)
def test_a_query_with_other_rows_scores_0(text: str, reason: str) -> None:
    assert outcome(text) == (0, reason)


BILLION = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) "
HOSTILE: list[tuple[str, str]] = [
    ("DROP TABLE city", "no_answer"),
    *[
        (f"```sql\n{query}\n```", reason)
        for query, reason in [
            ("DROP TABLE city", "not_allowed"),
            ("DELETE FROM city", "not_allowed"),
            ("UPDATE city SET people = 0", "not_allowed"),
            ("INSERT INTO city VALUES (9, 'x', 1, 1) RETURNING name", "not_allowed"),
            ("CREATE TABLE t (x)", "not_allowed"),
            ("CREATE TEMP VIEW city AS SELECT 1", "not_allowed"),
            ("CREATE VIRTUAL TABLE t USING fts5(x)", "not_allowed"),
            ("ATTACH '/etc/passwd' AS p", "not_allowed"),
            ("ATTACH ':memory:' AS p", "not_allowed"),
            ("DETACH main", "not_allowed"),
            ("VACUUM INTO '/tmp/x'", "not_allowed"),
            ("REINDEX", "invalid"),
            ("ANALYZE", "not_allowed"),
            ("BEGIN", "not_allowed"),
            ("COMMIT", "not_allowed"),
            ("SAVEPOINT a", "not_allowed"),
            ("PRAGMA writable_schema=ON", "not_allowed"),
            ("PRAGMA table_info(city)", "not_allowed"),
            ("SELECT * FROM pragma_database_list", "not_allowed"),
            ("SELECT load_extension('/tmp/x.so')", "not_allowed"),
            ("SELECT random()", "not_allowed"),
            ("SELECT hex(randomblob(1000000000))", "not_allowed"),
            ("SELECT date('now')", "not_allowed"),
            ("SELECT datetime()", "not_allowed"),
            ("SELECT strftime('%s')", "not_allowed"),
            ("SELECT strftime()", "not_allowed"),
            ("SELECT date(' NOW ')", "not_allowed"),
            ("SELECT date('no' || 'w')", "not_allowed"),
            ("SELECT date(CAST('now' AS BLOB))", "not_allowed"),
            ("SELECT time('now' || char(0) || 'x')", "not_allowed"),
            ("SELECT unixepoch('subsec')", "not_allowed"),
            ("SELECT julianday(name) FROM (SELECT lower('NOW') AS name)", "not_allowed"),
            (BILLION + "SELECT max(date(x, '1 day')) FROM n", "too_many_steps"),
            ("SELECT CURRENT_TIMESTAMP", "not_allowed"),
            ("SELECT sqlite_version()", "not_allowed"),
            (f"{LARGE}; SELECT 1", "not_allowed"),
            (f"{LARGE}; DROP TABLE city", "not_allowed"),
            ("SELECT " + "1," * 20_000 + "1", "not_allowed"),
            (BILLION + "SELECT count(*) FROM n", "too_many_steps"),
            (BILLION + "SELECT x FROM n", "too_many_rows"),
            (BILLION + "SELECT sum(a.x * b.x) FROM n a, n b", "too_many_steps"),
            (
                "SELECT count(*) FROM " + ", ".join(f"city c{n}" for n in range(30)),
                "too_many_steps",
            ),
            ("SELECT 1 FROM " + ", ".join(f"city c{n}" for n in range(12)), "too_many_rows"),
            ("SELECT zeroblob(2000000000)", "result_too_large"),
            # Older versions of SQLite give no value, or nest fewer expressions.
            ("SELECT printf('%.*c', 100000000, 'x')", "different result_too_large"),
            ("SELECT replace(hex(zeroblob(400000)), '0', 'xxxxxxxxxx')", "result_too_large"),
            ("SELECT " + "(" * 2000 + "1" + ")" * 2000, "invalid different"),
            ("SELECT name FROM city WHERE name = ?", "invalid"),
            ("EXPLAIN SELECT 1", "different"),
            ("SELECT group_concat(name) FROM city WHERE people > 1000", "different"),
            ("SELECT readfile('/etc/passwd')", "invalid"),
            ("\x00", "invalid"),
            (";", "no_answer"),
        ]
    ],
]


@pytest.mark.parametrize(("text", "reasons"), HOSTILE)
def test_a_query_can_only_read_and_only_so_much(text: str, reasons: str) -> None:
    options = {"max_steps": 2_000_000, "max_rows": 1_000}
    prepared = Sql(**options).prepare(REFERENCE)
    from_completion = type("C", (), {"text": text})
    found = prepared(from_completion)  # type: ignore[arg-type]
    assert found.score == 0  # type: ignore[union-attr]
    assert found.reason.value in reasons.split()  # type: ignore[union-attr]
    honest = prepared(type("C", (), {"text": LARGE}))  # type: ignore[arg-type]
    assert honest.score == 1  # type: ignore[union-attr]


def test_functions_of_time_give_what_sqlite_gives_but_for_the_time_of_day() -> None:
    schema = (
        "CREATE TABLE d (day TEXT);"
        "INSERT INTO d VALUES ('2024-02-28'), ('now'), (NULL), (2460000.5);"
        "CREATE VIEW years AS SELECT strftime('%Y', day) AS y FROM d WHERE day <> 'now';"
    )
    expressions = [
        "date(day, '+1 day')",
        "datetime(day, 'start of month', '-1 second')",
        "strftime('%j', day)",
        "julianday(day)",
        "unixepoch(day)",
        "time(day)",
        "strftime(NULL, day)",
        "upper(day)",
    ]
    columns = ", ".join(expressions)
    queries = [
        f"SELECT {columns} FROM d WHERE day IS NOT 'now'",
        "SELECT y FROM years",
        "SELECT 'now'",
    ]
    with closing(sqlite3.connect(":memory:")) as plain:
        plain.executescript(schema)
        for query in queries:
            rows = [list(row) for row in plain.execute(query)]
            assert outcome(query, {"database": schema, "rows": rows}) == (1, "equal"), query
    assert outcome("SELECT date(day) FROM d", {"database": schema, "rows": []})[1] == "not_allowed"


def test_comments_before_a_query_take_linear_time() -> None:
    """A pattern that could read them in two ways tried every combination."""
    comments = "/* large */" * 1_000
    assert query_in(comments + LARGE) == comments + LARGE
    assert query_in(comments + "I would select the large ones.") is None
    assert query_in("/**/" * 5_000 + "/*") is None
    assert query_in("select 1;\n\nx" + "\n" * 200_000 + "x") == "select 1"


@pytest.mark.parametrize("piece", ["\n", "_", "a:\n", "# a\n", "A a ", "** ", ";\n"])
def test_lines_around_a_query_take_linear_time(piece: str) -> None:
    assert_linear(query_in, piece)
    assert_linear(query_in, piece, before="a:\n")
    assert_linear(query_in, piece, before="select 1\n\n")


def test_rows_are_ordered_where_the_reference_orders_them() -> None:
    ordered = {"database": SCHEMA, "query": LARGE + " ORDER BY people"}
    assert outcome(LARGE + " ORDER BY id", ordered)[0] == 1
    assert outcome(LARGE + " ORDER BY id DESC", ordered)[0] == 0
    assert outcome(LARGE + " ORDER BY id DESC", ordered, rows="multiset")[0] == 1
    inner = {"database": SCHEMA, "query": "SELECT name FROM (SELECT * FROM city ORDER BY id)"}
    assert outcome("SELECT name FROM city ORDER BY name", inner)[0] == 1


def test_a_set_has_no_numbers_of_rows() -> None:
    reference = {"database": SCHEMA, "query": "SELECT city FROM visit"}
    assert outcome("SELECT DISTINCT city FROM visit", reference)[0] == 0
    assert outcome("SELECT DISTINCT city FROM visit", reference, rows="set")[0] == 1


def test_equal_numbers_are_equal_and_texts_are_none() -> None:
    reference = {"database": SCHEMA, "rows": [[2], [3.0], [0.1 + 0.2]]}
    assert outcome("VALUES (2.0), (3), (0.3)", reference)[0] == 1
    assert outcome("VALUES ('2'), (3), (0.3)", reference)[0] == 0
    assert outcome("VALUES (2), (3), (NULL)", reference)[0] == 0


def test_names_of_columns_may_count() -> None:
    named = {"database": SCHEMA, "rows": [["Paris"], ["Rome"]], "columns": ["Name"]}
    assert outcome(LARGE, named, column_names=True)[0] == 1
    assert outcome("SELECT name AS n FROM city WHERE people > 1000", named)[0] == 1
    assert outcome("SELECT name AS n FROM city WHERE people > 1000", named, column_names=True) == (
        0,
        "different",
    )


@pytest.mark.parametrize(
    ("constant", "honest", "query"),
    [
        ("VALUES ('Paris'), ('Rome')", LARGE, LARGE),
        ("SELECT 1 WHERE 0", "SELECT id FROM city WHERE id > 9", "SELECT id FROM city WHERE id=9"),
        ("SELECT 0", "SELECT count(id) FROM city WHERE id > 9",
         "SELECT count(*) FROM city WHERE id > 9"),
        ("SELECT NULL", "SELECT max(id) FROM city WHERE 0",
         "SELECT max(people) FROM city WHERE id > 9"),
        ("WITH city AS (SELECT 3) SELECT 3 FROM city", "SELECT count(1) FROM city",
         "SELECT count(*) FROM city"),
        ("SELECT 3 FROM sqlite_schema LIMIT 1", "WITH c AS (SELECT * FROM city) "
         "SELECT count(*) FROM c", "SELECT count(*) FROM city"),
        ("SELECT 2", "SELECT count(*) FROM large", "SELECT count(*) FROM large"),
    ],
)  # fmt: skip
def test_a_constant_query_is_not_equal_to_one_that_reads(
    constant: str, honest: str, query: str
) -> None:
    view = f"CREATE VIEW large AS {LARGE};"
    reference = {"database": SCHEMA + view, "query": query}
    assert outcome(constant, reference) == (0, "no_table")
    assert outcome(honest, reference) == (1, "equal")


def test_a_constant_query_is_equal_to_a_constant_one() -> None:
    assert outcome("VALUES (2)", {"database": SCHEMA, "query": "SELECT 1 + 1"}) == (1, "equal")
    assert outcome("VALUES (2)", {"database": SCHEMA, "rows": [[2]]}) == (1, "equal")


def test_several_databases_find_a_coincidence() -> None:
    other = SCHEMA + "INSERT INTO city VALUES (4, 'Bonn', 1500, 140);"
    guess = "SELECT name FROM city WHERE id < 3"
    assert outcome(guess)[0] == 1
    both = {"database": [SCHEMA, other], "query": LARGE}
    assert outcome(guess, both) == (0, "different")
    assert outcome(LARGE, both) == (1, "equal")


def test_a_file_of_sqlite_is_a_database() -> None:
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(SCHEMA)
        content = base64.b64encode(made.serialize()).decode()
    assert outcome(LARGE, {"database": {"sqlite": content}, "query": LARGE})[0] == 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"query": "SELECT 1"}, "reference.database is needed"),
        ({"database": SCHEMA}, "reference.query or reference.rows is needed"),
        ({"database": "CREATE nothing", "query": "SELECT 1"}, "SQLite does not take it"),
        ({"database": "ATTACH '/tmp/x' AS a", "query": "SELECT 1"}, "SQLite does not take it"),
        ({"database": "PRAGMA hard_heap_limit=0", "query": "SELECT 1"}, "SQLite does not take it"),
        ({"database": {"sqlite": "!"}, "query": "SELECT 1"}, "SQLite does not take it"),
        ({"database": {"sqlite": "AAAA"}, "query": "SELECT 1"}, "SQLite does not take it"),
        ({"database": 5, "query": "SELECT 1"}, "expected SQL that makes it"),
        ({"database": [SCHEMA] * 9, "query": "SELECT 1"}, "found 9, expected at most 8"),
        ({"database": SCHEMA, "query": "SELECT nobody"}, "invalid: no such column"),
        ({"database": SCHEMA, "query": "DELETE FROM city"}, "not_allowed"),
        ({"database": SCHEMA, "rows": "Paris"}, "found a text, expected a list of lists"),
        ({"database": SCHEMA, "rows": [["a", ["b"]]]}, "found a list in a row"),
        ({"database": SCHEMA, "rows": [["a"], ["b", 1]]}, "reference.rows: found rows .* 1 and 2"),
        ({"database": SCHEMA, "rows": [["a"]], "columns": ["x", "y"]}, "of 1 and 2 columns"),
        pytest.param(
            {"database": BILLION.replace("WITH", "CREATE TABLE t AS WITH") + "SELECT x FROM n",
             "query": "SELECT 1"}, "SQLite does not take it", marks=pytest.mark.slow),
    ],
)  # fmt: skip
def test_a_wrong_reference_is_named(reference: dict[str, Any], message: str) -> None:
    with pytest.raises(Unverifiable, match=message):
        judge(Sql(), reference, LARGE)


def test_200_generated_queries_meet_rows_worked_out_by_hand() -> None:
    values: list[tuple[int, str, int]] = [
        (number, string.ascii_lowercase[number % 7], number * 37 % 101) for number in range(60)
    ]
    database = "CREATE TABLE t (id, name, n);" + "".join(
        f"INSERT INTO t VALUES ({a}, '{b}', {c});" for a, b, c in values
    )
    number = 0
    for bound in range(50):
        cases: list[tuple[str, list[list[Any]]]] = [
            (f"SELECT id FROM t WHERE n < {bound}", [[a] for a, _, c in values if c < bound]),
            (f"SELECT count(*) FROM t WHERE n >= {bound}", [[sum(c >= bound for *_, c in values)]]),
            (f"SELECT name, n FROM t WHERE id % 10 = {bound % 10}",
             [[b, c] for a, b, c in values if a % 10 == bound % 10]),
            (f"SELECT sum(n) FROM t WHERE id <= {bound}",
             [[sum(c for a, _, c in values if a <= bound)]]),
        ]  # fmt: skip
        for query, rows in cases:
            number += 1
            assert outcome(query, {"database": database, "rows": rows}) == (1, "equal")
            wrong = [*rows, [0] * len(rows[0] if rows else [0])]
            assert outcome(query, {"database": database, "rows": wrong})[0] == 0
    assert number == 200


def test_workers_run_queries(http: httpx.Client) -> None:
    found = verdicts(
        http, {"type": "sql"}, LARGE, "SELECT 1", "```sql\nATTACH 'x' AS a\n```", **REFERENCE
    )
    assert [one["reason"] for one in found] == ["equal", "different", "not_allowed"]
