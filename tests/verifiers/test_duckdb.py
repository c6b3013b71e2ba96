"""`sql` on DuckDB, and in the dialects of other databases: what reads, and what does not."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import httpx
import pytest

from tests.verifier_service.judging import judge
from tests.verifier_service.test_score import verdicts
from verifier_service.verifier import Unverifiable
from verifier_service.verifiers.sql import Sql

SCHEMA = """
CREATE TABLE city (id INTEGER PRIMARY KEY, name TEXT, people INTEGER, area DECIMAL(9, 2), day DATE);
INSERT INTO city VALUES (1, 'Paris', 2100, 105.40, '2024-01-02'), (2, 'Rome', 2800, 1285, NULL);
INSERT INTO city VALUES (3, 'Oslo', 700, 454.25, '2024-03-01');
CREATE SEQUENCE numbers;
"""
LARGE = "SELECT name FROM city WHERE people > 1000"
REFERENCE: dict[str, Any] = {"database": SCHEMA, "query": LARGE}
DUCK = {"engine": "duckdb"}


def outcome(text: str, reference: dict[str, Any] = REFERENCE, **options: Any) -> tuple[float, str]:
    found = judge(Sql(**DUCK | options), reference, text)
    return found.score, found.reason.value


@pytest.mark.parametrize(
    "text",
    [
        LARGE,
        f"So:\n```duckdb\n{LARGE};\n```\n",
        "SELECT name FROM city WHERE people >= 1001 ORDER BY id DESC",
        "```sql\nFROM city SELECT name WHERE people > 1000\n```",
        "SELECT name FROM city QUALIFY row_number() OVER (ORDER BY people DESC) <= 2",
        "SELECT unnest(['Paris', 'Rome'])",
        "SELECT unnest(list(name)) FROM city WHERE area * 0 = 0 AND people > 1000",
        "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 2) "
        "SELECT name FROM n JOIN city ON id = x",
        "SELECT name FROM city, range(1) WHERE people > 1000",
        "SELECT DISTINCT name FROM city, generate_series(1, 3) WHERE people > 1000",
    ],
)
def test_a_query_with_the_wanted_rows_scores(text: str) -> None:
    assert outcome(text) == (1, "equal")


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("SELECT area FROM city ORDER BY id", [[105.4], [1285], [454.25]]),
        ("SELECT day FROM city ORDER BY id", [["2024-01-02"], [None], ["2024-03-01"]]),
        ("SELECT TIMESTAMP '2024-01-02 03:04:05'", [["2024-01-02 03:04:05"]]),
        ("SELECT TIMESTAMPTZ '2024-01-02 03:04:05+00'", [["2024-01-02 03:04:05+00:00"]]),
        ("SELECT people > 1000 FROM city ORDER BY id", [[True], [1], [False]]),
        ("SELECT 0.1 + 0.2, 1e0 / 3, 10::HUGEINT", [[0.3, 0.333333333333, 10]]),
        ("SELECT sum(people) FROM city", [[5600.0]]),
    ],
)
def test_values_are_written_as_references_write_them(query: str, rows: list[list[Any]]) -> None:
    assert outcome(query, {"database": SCHEMA, "rows": rows}, rows="list") == (1, "equal")


def test_lists_and_structs_are_values() -> None:
    query = "SELECT [people, id], {'n': name}, map {'a': id} FROM city"
    reference = {"database": SCHEMA, "query": query}
    assert outcome(query + " ORDER BY id DESC", reference) == (1, "equal")
    assert outcome(query.replace("people, id", "id, people"), reference) == (0, "different")


BILLION = "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM n WHERE x < 1000000000) "
HOSTILE = [
    ("SELECT * FROM read_csv('/etc/passwd')", "not_allowed"),
    ("SELECT * FROM read_text('/etc/passwd')", "not_allowed"),
    ("SELECT * FROM read_blob('/proc/self/environ')", "not_allowed"),
    ("SELECT * FROM read_json('/etc/passwd')", "not_allowed"),
    ("SELECT * FROM read_parquet('s3://bucket/file')", "not_allowed"),
    ("SELECT * FROM parquet_scan('https://example.org/x')", "not_allowed"),
    ("SELECT * FROM sniff_csv('/etc/passwd')", "not_allowed"),
    ("SELECT * FROM glob('/etc/*')", "not_allowed"),
    ("SELECT * FROM '/etc/passwd'", "invalid"),
    ("SELECT * FROM 'https://example.org/x.csv'", "not_allowed"),
    ("SELECT * FROM city_frame", "invalid"),
    ("COPY city TO '/tmp/x.csv'", "not_allowed"),
    ("COPY city FROM '/etc/passwd'", "not_allowed"),
    ("COPY (SELECT 1) TO '/tmp/x.parquet'", "not_allowed"),
    ("EXPORT DATABASE '/tmp/x'", "not_allowed"),
    ("IMPORT DATABASE '/tmp/x'", "not_allowed"),
    ("INSTALL httpfs", "not_allowed"),
    ("LOAD httpfs", "not_allowed"),
    ("LOAD '/tmp/x.duckdb_extension'", "not_allowed"),
    ("ATTACH '/tmp/x.db'", "not_allowed"),
    ("ATTACH ':memory:' AS other", "not_allowed"),
    ("DETACH memory", "not_allowed"),
    ("USE memory", "not_allowed"),
    ("SET enable_external_access=true", "not_allowed"),
    ("SET lock_configuration=false", "not_allowed"),
    ("SET memory_limit='100GB'", "not_allowed"),
    ("RESET memory_limit", "not_allowed"),
    ("PRAGMA database_list", "not_allowed"),
    ("CALL pragma_version()", "not_allowed"),
    ("CREATE SECRET (TYPE s3, KEY_ID 'a', SECRET 'b')", "not_allowed"),
    ("SELECT * FROM duckdb_secrets()", "not_allowed"),
    ("SELECT * FROM duckdb_settings()", "not_allowed"),
    ("SELECT current_setting('memory_limit')", "not_allowed"),
    ("SELECT getvariable('x')", "not_allowed"),
    ("CREATE TABLE x (a INTEGER)", "not_allowed"),
    ("CREATE MACRO f() AS 1", "not_allowed"),
    ("INSERT INTO city VALUES (4, 'Bonn', 1, 1, NULL)", "not_allowed"),
    ("WITH x AS (DELETE FROM city RETURNING name) SELECT * FROM x", "not_allowed"),
    (
        "WITH x AS (INSERT INTO city VALUES (4, 'B', 1, 1, NULL) RETURNING name) SELECT 'Paris'",
        "not_allowed",
    ),
    ("UPDATE city SET name = 'x'", "not_allowed"),
    ("DROP TABLE city", "not_allowed"),
    ("BEGIN", "not_allowed"),
    ("COMMIT", "not_allowed"),
    ("ROLLBACK", "not_allowed"),
    ("CHECKPOINT", "not_allowed"),
    ("VACUUM", "not_allowed"),
    ("EXPLAIN SELECT 1", "not_allowed"),
    ("DESCRIBE city", "not_allowed"),
    ("SHOW TABLES", "not_allowed"),
    ("SUMMARIZE city", "not_allowed"),
    ("SELECT * FROM (DESCRIBE city)", "not_allowed"),
    ("PREPARE q AS SELECT 1", "not_allowed"),
    ("EXECUTE q", "not_allowed"),
    (f"{LARGE}; SELECT 1", "not_allowed"),
    (f"{LARGE}; DROP TABLE city", "not_allowed"),
    ("SELECT random()", "not_allowed"),
    ("SELECT main.random()", "not_allowed"),
    ('SELECT "RANDOM"()', "not_allowed"),
    ("SELECT uuid()", "not_allowed"),
    ("SELECT setseed(0.5)", "not_allowed"),
    ("SELECT nextval('numbers')", "not_allowed"),
    ("SELECT now()", "not_allowed"),
    ("SELECT today()", "not_allowed"),
    ("SELECT current_date", "not_allowed"),
    ("SELECT current_timestamp", "not_allowed"),
    ("SELECT localtime", "not_allowed"),
    ("SELECT ago(INTERVAL 1 DAY)", "not_allowed"),
    ("SELECT age(TIMESTAMP '2024-01-01')", "not_allowed"),
    ("SELECT version()", "not_allowed"),
    ("SELECT sleep_ms(100000)", "not_allowed"),
    ("SELECT write_log('x')", "not_allowed"),
    ("SELECT * FROM query('SELECT random()')", "not_allowed"),
    ("SELECT * FROM query_table('city')", "not_allowed"),
    ("SELECT * FROM json_execute_serialized_sql('x')", "not_allowed"),
    ("SELECT name FROM city USING SAMPLE 1", "not_allowed"),
    ("SELECT name FROM city TABLESAMPLE 50%", "not_allowed"),
    ("SELECT x FROM (VALUES (1)) t(x) WHERE x = (SELECT random())", "not_allowed"),
    ("SELECT list_transform([1], lambda x: random())", "not_allowed"),
    ("SELECT * FROM range(1000000000)", "too_many_rows"),
    ("SELECT a.range FROM range(100000) a, range(100000) b", "too_many_rows"),
    (BILLION + "SELECT list(x) FROM n, range(100000)", "result_too_large"),
    ("SELECT list(range) FROM range(1000000000)", "result_too_large"),
    ("SELECT * FROM range(1000000000) ORDER BY hash(range)", "result_too_large"),
    ("SELECT repeat('x', 2000000)", "result_too_large"),
    ("SELECT " + "1," * 20_000 + "1", "not_allowed"),
    ("SELECT " + "(" * 2000 + "1" + ")" * 2000, "invalid"),
    ("SELECT " + "+".join(["1"] * 5000), "invalid"),
    ("SELECT nobody FROM city", "invalid"),
    ("SELECT getenv('HOME')", "invalid"),
    ("SELECT 'a", "invalid"),
    ("SELECT ?", "invalid"),
    ("SELECT name FROM city WHERE people > 10000", "different"),
]


@pytest.mark.parametrize(("query", "reason"), HOSTILE[1:] + HOSTILE[:1])
def test_a_query_can_only_read_and_only_so_much(query: str, reason: str) -> None:
    if query.startswith(BILLION):
        query = query.replace("x < 1000000000", "x < 10000")
    prepared = Sql(engine="duckdb", max_rows=1_000).prepare(REFERENCE)
    hostile = prepared(type("C", (), {"text": f"```sql\n{query}\n```"}))  # type: ignore[arg-type]
    assert (hostile.score, hostile.reason.value) == (0, reason)  # type: ignore[union-attr]
    honest = prepared(type("C", (), {"text": LARGE}))  # type: ignore[arg-type]
    assert honest.score == 1  # type: ignore[union-attr]


def test_the_list_of_hostile_queries_is_long() -> None:
    assert len({query for query, _ in HOSTILE}) > 80


def test_rows_are_those_of_the_database_however_often_they_are_asked_for() -> None:
    prepared = Sql(engine="duckdb").prepare(REFERENCE)
    for _ in range(3):
        found = prepared(type("C", (), {"text": LARGE}))  # type: ignore[arg-type]
        assert found.score == 1  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ({"database": "CREATE nothing", "query": "SELECT 1"}, "DuckDB does not take it"),
        ({"database": "COPY t FROM '/etc/passwd'", "query": "SELECT 1"}, "DuckDB does not"),
        ({"database": "SET threads=8", "query": "SELECT 1"}, "DuckDB does not take it"),
        ({"database": {"sqlite": "AAAA"}, "query": "SELECT 1"}, "SQL that makes it in DuckDB"),
        ({"database": SCHEMA, "query": "SELECT nobody"}, "invalid: Binder Error"),
        ({"database": SCHEMA, "query": "DELETE FROM city"}, "not_allowed"),
    ],
)
def test_a_reference_that_cannot_be_used_is_named(reference: Any, message: str) -> None:
    with pytest.raises(Unverifiable, match=message):
        judge(Sql(engine="duckdb"), reference, LARGE)


def test_no_database_sees_another() -> None:
    """One instance holds the databases of all references, one after the other."""
    secret = "CREATE TABLE secret (a INTEGER); INSERT INTO secret VALUES (7)"
    own = Sql(engine="duckdb").prepare({"database": secret, "query": "SELECT a FROM secret"})
    other = Sql(engine="duckdb").prepare(REFERENCE)
    for name in ("secret", "main.secret", "reference_1.secret", "memory.secret"):
        found = other(type("C", (), {"text": f"SELECT a FROM {name}"}))  # type: ignore[arg-type]
        assert found.reason.value == "invalid"  # type: ignore[union-attr]
    for _ in range(2):
        assert own(type("C", (), {"text": "SELECT 7"})).score == 1  # type: ignore
        assert other(type("C", (), {"text": LARGE})).score == 1  # type: ignore


@pytest.mark.parametrize(
    "script",
    [
        "ATTACH ':memory:' AS kept; CREATE TABLE kept.t (a INTEGER)",
        "ATTACH ':memory:' AS kept; USE kept",
        'ATTACH \':memory:\' AS "a""b"; CREATE nothing',
    ],
)
def test_a_script_leaves_no_database_behind(script: str) -> None:
    with pytest.raises(Unverifiable, match="it attaches another database"):
        judge(Sql(engine="duckdb"), {"database": script, "query": "SELECT 1"}, "SELECT 1")
    found = judge(Sql(engine="duckdb"), REFERENCE, "SELECT a FROM kept.t")
    assert found.reason.value == "invalid"
    assert outcome(LARGE) == (1, "equal")


def test_a_script_may_leave_a_transaction_open() -> None:
    database = "BEGIN; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)"
    assert outcome("SELECT 1", {"database": database, "query": "SELECT a FROM t"}) == (1, "equal")


def test_several_databases_find_a_coincidence() -> None:
    other = SCHEMA + "INSERT INTO city VALUES (4, 'Bonn', 1500, 140, NULL);"
    guess = "SELECT name FROM city WHERE id < 3"
    both = {"database": [SCHEMA, other], "query": LARGE}
    assert outcome(guess) == (1, "equal")
    assert outcome(guess, both) == (0, "different")
    assert outcome(LARGE, both) == (1, "equal")


@pytest.mark.parametrize(
    ("dialect", "query"),
    [
        ("mysql", "SELECT `name` FROM `city` WHERE people > 1000 LIMIT 0, 5"),
        ("tsql", "SELECT TOP 2 [name] FROM [city] WHERE people > 1000"),
        ("postgres", "SELECT name::text FROM city WHERE people > 1000 AND name ILIKE '%'"),
        ("bigquery", "SELECT `name` FROM city WHERE people > CAST('1000' AS INT64)"),
        ("spark", "SELECT string(name) FROM city WHERE people > 1000"),
        ("oracle", "SELECT name FROM city WHERE people > 1000 FETCH FIRST 2 ROWS ONLY"),
    ],
)
@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_a_query_in_another_dialect_is_translated(engine: str, dialect: str, query: str) -> None:
    wanted = {**REFERENCE, "database": SCHEMA.replace("CREATE SEQUENCE numbers;", "")}
    for reference in (wanted | {"query": query}, wanted | {"rows": [["Paris"], ["Rome"]]}):
        assert outcome(query, reference, engine=engine, dialect=dialect) == (1, "equal")
        other = query.replace("1000", "2500")
        assert outcome(other, reference, engine=engine, dialect=dialect) == (0, "different")


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT NOW()", "not_allowed"),
        ("SELECT RAND()", "not_allowed"),
        ("SELECT LOAD_FILE('/etc/passwd')", "invalid"),
        ("SELECT SLEEP(100000)", "invalid"),
        ("SELECT name INTO OUTFILE '/tmp/x' FROM city", "invalid"),
        ("LOAD DATA INFILE '/etc/passwd' INTO TABLE city", "invalid"),
        ("DROP TABLE city", "not_allowed"),
        ("SET GLOBAL x = 1", "not_allowed"),
        ("SELECT 1; SELECT 2", "not_allowed"),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "invalid"),
        ("SELECT 'a", "invalid"),
        ("SELECT FROM WHERE", "invalid"),
    ],
)
def test_a_dialect_opens_nothing(query: str, reason: str) -> None:
    found = judge(Sql(engine="duckdb", dialect="mysql"), REFERENCE, f"```sql\n{query}\n```")
    assert (found.score, found.reason.value) == (0, reason)


@pytest.mark.parametrize(
    ("package", "options"),
    [("duckdb", {"engine": "duckdb"}), ("sqlglot", {"dialect": "mysql"})],
)
def test_without_the_extra_nothing_is_judged(
    package: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("duckdb_queries", "sql_dialects"):
        monkeypatch.delitem(sys.modules, f"verifier_service.{name}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    database = "CREATE TABLE city (name TEXT, people INTEGER)"
    with pytest.raises(Unverifiable) as error:
        judge(Sql(**options), {"database": database, "query": LARGE}, LARGE)
    assert error.value.reason.value == "missing_package"
    assert "reward-verifier[sql]" in error.value.message


def test_the_service_judges_on_duckdb_and_outlives_a_query_without_end(http: httpx.Client) -> None:
    verifier = {"type": "sql", "engine": "duckdb"}
    (found,) = verdicts(http, verifier, LARGE, **REFERENCE)
    assert (found["score"], found["reason"]) == (1, "equal")
    endless = "WITH RECURSIVE n AS (SELECT 1 AS x UNION ALL SELECT 1 FROM n) SELECT max(x) FROM n"
    (found,) = verdicts(http, verifier, endless, **REFERENCE)
    assert (found["outcome"], found["score"]) == ("scored", 0)
    assert found["reason"] in ("too_slow", "too_large")
    (found,) = verdicts(http, verifier, LARGE, **REFERENCE)
    assert found["reason"] == "equal"


def test_the_fork_server_has_no_thread_of_the_database() -> None:
    """A lock that one of them held would be held for ever in every worker that is forked."""
    script = (
        "import os\n"
        "from verifier_service.duckdb_queries import open_instance\n"
        "open_instance()\n"
        "print(len(os.listdir('/proc/self/task')))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=600
    )
    assert result.stdout == "1\n"
