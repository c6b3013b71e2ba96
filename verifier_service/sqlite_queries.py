"""Queries on an SQLite database in memory: they read, within bounds, and nothing else.

SQLite's authorizer refuses every action but reading, its progress handler counts steps, and its
limits bound values and memory. The process is a worker's, which can open no file.
"""

from __future__ import annotations

import base64
import binascii
import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import Any

from verifier_service.query_result import (
    MAX_DATABASE_BYTES,
    MAX_HEAP_BYTES,
    MAX_QUERY_CHARACTERS,
    MAX_VALUE_BYTES,
    BadDatabase,
    QueryFailed,
    QueryResult,
)

STEPS_PER_CALL = 10_000
"""Instructions of SQLite's machine after which its progress is looked at."""
MAX_LOADING_STEPS = 200_000_000

_READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE, sqlite3.SQLITE_FUNCTION}
)
_NEVER = frozenset({sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA})
"""Actions that a script that makes a database may not take either."""
_IMPURE_FUNCTIONS = {
    "random",
    "randomblob",
    "load_extension",
    "changes",
    "total_changes",
    "last_insert_rowid",
    "current_date",
    "current_time",
    "current_timestamp",
    "sqlite_version",
    "sqlite_source_id",
    "sqlite_compileoption_get",
    "sqlite_compileoption_used",
    "sqlite_offset",
    "readfile",
    "writefile",
    "edit",
}
"""Functions whose value is another one each time, or not the database's."""
_TIME_FUNCTIONS = {
    "date": (0,),
    "time": (0,),
    "datetime": (0,),
    "julianday": (0,),
    "unixepoch": (0,),
    "strftime": (1,),
    "timediff": (0, 1),
}
"""Functions of time, each with the places of its arguments that are times."""
_NOW = frozenset({"now", "subsec", "subsecond"})
"""Times that are the time of day; a time that is missing is it too."""
_SCHEMA_PAGE = 1
STEPS_PER_TIME = 200
"""Steps that a call of a function of time counts as: it crosses to Python and back."""

SqlValue = str | bytes | int | float | None


class _Guard:
    """SQLite's questions while a query runs: whether it may go on, act so, and know the time.

    They are no methods of the database: its connection would keep it alive until a collection.
    """

    def __init__(self) -> None:
        self.steps_left = 0
        self.refused: str | None = None
        """The first thing that the query may not do."""
        self._calendar = sqlite3.connect(":memory:")

    def __del__(self) -> None:
        self._calendar.close()

    def begin(self, max_steps: int) -> None:
        """Forget the query before."""
        self.steps_left, self.refused = max_steps, None

    def count_steps(self) -> int:
        """Whether to end the query, asked after each `STEPS_PER_CALL` steps."""
        self.steps_left -= STEPS_PER_CALL
        return int(self.steps_left <= 0)

    def authorize(self, action: int, one: str | None, two: str | None, *_: Any) -> int:
        """SQLite's question about each action of a query."""
        if action not in _READING:
            self.refused = f"an action that does not read: {one or action}"[:100]
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION and (two or "").lower() in _IMPURE_FUNCTIONS:
            self.refused = f"the function {two}"[:100]
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    def time(self, name: str, *given: SqlValue) -> SqlValue:
        """The value of a function of time, as SQLite has it; ValueError at the time of day."""
        self.steps_left -= STEPS_PER_TIME
        for place in _TIME_FUNCTIONS[name]:
            if place >= len(given) or _written(given[place]) in _NOW:
                self.refused = "the time of day"
                raise ValueError(self.refused)
        places = ", ".join("?" * len(given))
        row: tuple[SqlValue] = self._calendar.execute(f"SELECT {name}({places})", given).fetchone()
        return row[0]


class SqliteDatabase:
    """A database in memory, made from a reference, which queries cannot change.

    Args:
        content: a text of SQL that makes it, or `{"sqlite": base64}` with a file of SQLite.

    Raises:
        BadDatabase: the content makes none.
    """

    def __init__(self, content: Any) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        self._guard = _Guard()
        self._connection.execute(f"PRAGMA hard_heap_limit={MAX_HEAP_BYTES}")
        self._connection.execute("PRAGMA temp_store=MEMORY")
        self._connection.execute("PRAGMA trusted_schema=OFF")
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_DATABASE_BYTES)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        self._connection.set_progress_handler(self._guard.count_steps, STEPS_PER_CALL)
        self._guard.begin(MAX_LOADING_STEPS)
        self._fill(content)
        self._connection.set_authorizer(None)
        self._bound_time()
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MAX_QUERY_CHARACTERS)
        self._connection.set_authorizer(self._guard.authorize)

    def __del__(self) -> None:
        """Close the connection; from 3.13 on Python warns of one that is only dropped."""
        self._connection.close()

    def _fill(self, content: Any) -> None:
        try:
            if isinstance(content, str) and len(content) <= MAX_DATABASE_BYTES:
                self._connection.set_authorizer(_authorize_script)
                self._connection.executescript(content)
            elif isinstance(content, Mapping) and isinstance(content.get("sqlite"), str):
                data = base64.b64decode(content["sqlite"], validate=True)
                if len(data) > MAX_DATABASE_BYTES:
                    raise BadDatabase(f"more than {MAX_DATABASE_BYTES} bytes")
                self._connection.deserialize(data)
                self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            else:
                raise BadDatabase('expected SQL that makes it, or {"sqlite": base64 of a file}')
        except (sqlite3.Error, binascii.Error, MemoryError) as error:
            raise BadDatabase(f"SQLite does not take it: {error}"[:200]) from error

    def _bound_time(self) -> None:
        """Refuse the time of day, by whatever expression a query asks for it."""
        known = {
            name for (name,) in self._connection.execute("SELECT name FROM pragma_function_list")
        }
        for name in _TIME_FUNCTIONS.keys() & known:
            function = partial(self._guard.time, name)
            self._connection.create_function(name, -1, function, deterministic=True)
        # Else a view may not use these functions.
        self._connection.execute("PRAGMA trusted_schema=ON")

    def run(self, query: str, *, max_steps: int, max_rows: int) -> QueryResult:
        """The result of one query.

        Raises:
            QueryFailed: of the kind `not_allowed`, `invalid`, `too_many_steps`, `too_many_rows` or
                `too_large`.
        """
        if len(query) > MAX_QUERY_CHARACTERS:
            raise QueryFailed("not_allowed", f"more than {MAX_QUERY_CHARACTERS} characters")
        self._guard.begin(max_steps)
        try:
            cursor = self._connection.execute(query)
            rows = cursor.fetchmany(max_rows + 1)
        except MemoryError as error:
            raise QueryFailed("too_large") from error
        except (sqlite3.Error, sqlite3.Warning, ValueError, OverflowError) as error:
            raise self._failure(error) from error
        columns = tuple(one[0] for one in cursor.description or ())
        cursor.close()
        if not columns:
            raise QueryFailed("invalid", "no query")
        if len(rows) > max_rows:
            raise QueryFailed("too_many_rows")
        return QueryResult(columns, rows, self._reads_table(query))

    def _reads_table(self, query: str) -> bool | None:
        """Whether the program of a query opens a table or an index, other than the schema's.

        None for an EXPLAIN, which cannot be explained. The authorizer does not tell: it hears the
        same of a table and of a name in `WITH`.
        """
        try:
            program = self._connection.execute(f"EXPLAIN {query}").fetchall()
        except sqlite3.Error:
            return None
        return any(one[1] == "OpenRead" and one[3] > _SCHEMA_PAGE for one in program)

    def _failure(self, error: Exception) -> QueryFailed:
        if self._guard.refused is not None:
            return QueryFailed("not_allowed", self._guard.refused)
        if self._guard.steps_left <= 0:
            return QueryFailed("too_many_steps")
        message = str(error)
        if "one statement at a time" in message:
            return QueryFailed("not_allowed", "more than one statement")
        if "too big" in message or "out of memory" in message:
            return QueryFailed("too_large", message)
        return QueryFailed("invalid", message)


def _authorize_script(action: int, _one: str | None, two: str | None, *_: Any) -> int:
    """SQLite's question about each action of a script that makes a database."""
    if action in _NEVER:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (two or "").lower() == "load_extension":
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_CREATE_VTABLE:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


def _written(value: SqlValue) -> str:
    """A value as SQLite reads it where it wants a time: up to its first NUL."""
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return text.partition("\0")[0].strip().lower()
