"""Queries on a DuckDB database in memory: they read, within bounds, and nothing else.

DuckDB has no authorizer, so its own parse of a query is searched for functions that do not only
read the database, and the query runs in a transaction that cannot write. Files, extensions and
settings are closed before the first statement. The process is a worker's, which can open no file.
"""

from __future__ import annotations

import contextlib
import datetime
import decimal
import json
import uuid
from collections.abc import Iterator
from functools import cache
from typing import Any

import duckdb

from verifier_service.query_result import (
    MAX_HEAP_BYTES,
    MAX_QUERY_CHARACTERS,
    MAX_VALUE_BYTES,
    BadDatabase,
    QueryFailed,
    QueryResult,
    ResultRow,
)

MAX_SCRIPT_CHARACTERS = 2**20
"""Longest script: it runs again whenever its database takes the place of another one."""
BATCH_ROWS = 256
"""Rows that are fetched at a time: their sizes are looked at before the next."""
_CONFIGURATION: dict[str, str | bool | int | float | list[str]] = {
    "threads": "1",
    "memory_limit": f"{MAX_HEAP_BYTES // 2**20}MiB",
}
_SETTINGS = (
    "SET temp_directory=''",
    "SET autoinstall_known_extensions=false",
    "SET autoload_known_extensions=false",
    "SET allow_community_extensions=false",
    "SET python_enable_replacements=false",
    "SET TimeZone='UTC'",
    "SET enable_external_access=false",
    "SET lock_configuration=true",
)
_TABLE_FUNCTIONS = frozenset(
    {"range", "generate_series", "unnest", "repeat", "repeat_row", "json_each", "json_tree"}
)
"""Functions that make rows of their arguments alone."""
_IMPURE_FUNCTIONS = """
SELECT DISTINCT lower(function_name) FROM duckdb_functions()
WHERE internal AND function_name <> 'error' AND (
    stability = 'VOLATILE' OR (
        stability = 'CONSISTENT_WITHIN_QUERY' AND NOT (
            len(parameter_types) > 0
            AND regexp_matches(concat(return_type, parameter_types::VARCHAR), 'TIME ZONE|TZ')
        )
    )
)"""
"""Functions whose value is another one each time, by DuckDB's own list. Since 2.0.1 it has `+` and
others, too, for times of the session's zone, which is UTC here."""
_IMPURE_MACROS = frozenset(
    {"ago", "current_query", "pg_conf_load_time", "pg_postmaster_start_time", "version"}
)
_TIME_WORDS = frozenset(
    {"current_date", "current_time", "current_timestamp", "localtime", "localtimestamp"}
)
"""Times of day that a query may write like a column."""


class _Instance:
    """DuckDB in this process, which holds one database at a time, so that none sees another."""

    def __init__(self) -> None:
        self._base = _connected()
        for setting in _SETTINGS:
            self._base.execute(setting)
        self._name = "memory"
        self._number = 0
        self._held: DuckDatabase | None = None
        self._cursor = self._base

    def connection(self, database: DuckDatabase) -> duckdb.DuckDBPyConnection:
        """A connection to a database, which takes the place of the one before.

        Raises:
            BadDatabase: its script makes none.
        """
        if self._held is not database:
            self._held = None
            self._replace()
            self._fill(database.script)
            self._held = database
        return self._cursor

    def _replace(self) -> None:
        """Put an empty database in the place of the one before."""
        self._number += 1
        name = f"reference_{self._number}"
        cursor = self._base.cursor()
        cursor.execute(f"ATTACH ':memory:' AS {name}")
        for connection in (cursor, self._base):
            connection.execute(f"USE {name}")
        if self._cursor is not self._base:
            self._cursor.close()
        cursor.execute(f"DETACH {self._name}")
        self._cursor, self._name = cursor, name

    def _fill(self, script: str) -> None:
        try:
            self._cursor.execute(script)
        except (duckdb.Error, MemoryError) as error:
            raise BadDatabase(f"DuckDB does not take it: {error}"[:200]) from error
        finally:
            with contextlib.suppress(duckdb.Error):
                self._cursor.execute("COMMIT")
            self._check_databases()

    def _check_databases(self) -> None:
        """Detach what a script attached. Raises BadDatabase."""
        self._cursor.execute(f"USE {self._name}")
        rows = self._cursor.execute(
            "SELECT database_name FROM duckdb_databases() WHERE NOT internal"
        ).fetchall()
        others = [str(name) for (name,) in rows if name != self._name]
        for name in others:
            quoted = name.replace('"', '""')
            self._cursor.execute(f'DETACH "{quoted}"')
        if others:
            raise BadDatabase("it attaches another database")


def _connected() -> duckdb.DuckDBPyConnection:
    """A database without threads of its own: the fork server forks with it open."""
    try:
        return duckdb.connect(":memory:", config={**_CONFIGURATION, "async_threads": "0"})
    except duckdb.Error:  # before DuckDB 2.0 there are none, and no setting
        return duckdb.connect(":memory:", config=_CONFIGURATION)


@cache
def open_instance() -> _Instance:
    """DuckDB in this process, opened once.

    The fork server opens it for its workers: DuckDB reads its control group then, and aborts in a
    confined process.
    """
    return _Instance()


class DuckDatabase:
    """A database in memory, made from a reference, which queries cannot change.

    Args:
        content: a text of SQL that makes it.

    Raises:
        BadDatabase: the content makes none.
    """

    def __init__(self, content: Any) -> None:
        if not isinstance(content, str) or len(content) > MAX_SCRIPT_CHARACTERS:
            raise BadDatabase(
                f"expected at most {MAX_SCRIPT_CHARACTERS} characters of SQL that makes it in "
                "DuckDB"
            )
        self.script = content
        self._connection = open_instance().connection(self)
        self._impure = self._impure_functions()

    def _impure_functions(self) -> frozenset[str]:
        """Functions whose value is another one each time, or not the database's."""
        rows = self._connection.execute(_IMPURE_FUNCTIONS).fetchall()
        return frozenset(name for (name,) in rows) | _IMPURE_MACROS

    def run(self, query: str, *, max_steps: int, max_rows: int) -> QueryResult:
        """The result of one query; DuckDB counts no steps.

        Raises:
            QueryFailed: of the kind `not_allowed`, `invalid`, `too_many_rows` or `too_large`.
        """
        if len(query) > MAX_QUERY_CHARACTERS:
            raise QueryFailed("not_allowed", f"more than {MAX_QUERY_CHARACTERS} characters")
        self._connection = open_instance().connection(self)
        try:
            self._check(query)
            self._connection.execute("BEGIN TRANSACTION READ ONLY")
            try:
                return self._result(query, max_rows)
            finally:
                self._connection.execute("ROLLBACK")
        except (duckdb.OutOfMemoryException, MemoryError) as error:
            raise QueryFailed("too_large", "out of memory") from error
        except duckdb.TransactionException as error:
            raise QueryFailed("not_allowed", "a query that writes") from error
        except duckdb.PermissionException as error:
            raise QueryFailed("not_allowed", "a file or a setting") from error
        except (duckdb.Error, RuntimeError, ValueError, OverflowError, RecursionError) as error:
            raise QueryFailed("invalid", str(error)[:300]) from error

    def _check(self, query: str) -> None:
        """Refuse a query that does more than read the database. Raises QueryFailed."""
        row = self._connection.execute("SELECT json_serialize_sql(?)", [query]).fetchone()
        assert row is not None
        tree = json.loads(row[0])
        if tree["error"]:
            kind = "invalid" if tree.get("error_type") == "parser" else "not_allowed"
            raise QueryFailed(kind, str(tree["error_message"])[:300])
        if len(tree["statements"]) != 1:
            raise QueryFailed("not_allowed", "more than one statement")
        for node in _nodes(tree["statements"]):
            problem = self._problem(node)
            if problem is not None:
                raise QueryFailed("not_allowed", problem[:100])

    def _problem(self, node: dict[str, Any]) -> str | None:
        """The part of a node of a query's tree that does more than read; None: it reads."""
        kind, name = node.get("type"), str(node.get("function_name", "")).lower()
        if kind == "TABLE_FUNCTION":
            name = str(node["function"].get("function_name", "")).lower()
            return None if name in _TABLE_FUNCTIONS else f"the function {name}"
        if name in self._impure or (name == "age" and len(node.get("arguments", "xx")) < 2):
            return f"the function {name}"
        if kind == "COLUMN_REF" and str(node["column_names"][-1]).lower() in _TIME_WORDS:
            return "the time of day"
        if kind == "SHOW_REF":
            return "a description"
        return "a random sample" if node.get("sample") else None

    def _result(self, query: str, max_rows: int) -> QueryResult:
        cursor = self._connection.execute(query)
        columns = tuple(str(one[0]) for one in cursor.description or ())
        rows: list[ResultRow] = []
        num_bytes = 0
        while batch := cursor.fetchmany(BATCH_ROWS):
            for row in batch:
                rows.append(tuple(map(_value, row)))
                sizes = [len(one) for one in rows[-1] if isinstance(one, str | bytes)]
                num_bytes += sum(sizes)
                if sizes and (max(sizes) > MAX_VALUE_BYTES or num_bytes > MAX_HEAP_BYTES):
                    raise QueryFailed("too_large", "a value or a result that is too large")
            if len(rows) > max_rows:
                raise QueryFailed("too_many_rows")
        return QueryResult(columns, rows)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    """The objects of a tree of JSON."""
    left = [tree]
    while left:
        one = left.pop()
        if isinstance(one, dict):
            yield one
            left += one.values()
        elif isinstance(one, list):
            left += one


def _value(value: Any) -> Any:
    """A value of DuckDB as a reference writes it: decimals as numbers, times as texts."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, decimal.Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | uuid.UUID):
        return str(value)
    if isinstance(value, list | tuple):
        return tuple(map(_value, value))
    if isinstance(value, dict):
        return tuple((_value(key), _value(one)) for key, one in value.items())
    return value
