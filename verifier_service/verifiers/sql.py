"""`sql`: does the query give the rows that it should?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, ClassVar, Literal

from pydantic import Field

from verifier_service.answer_text import PART_DESCRIPTION, AnswerPart, SeveralAnswers, answer_part
from verifier_service.code.extraction import last_block
from verifier_service.completion import Completion
from verifier_service.difference import (
    ABSENT,
    REVEAL_EXPECTED_DESCRIPTION,
    difference,
    without_wanted,
)
from verifier_service.query_result import (
    BadDatabase,
    QueryableDatabase,
    QueryFailed,
    QueryResult,
    ResultRow,
)
from verifier_service.reason import Reason
from verifier_service.reference import bad, kind, missing
from verifier_service.verifier import Judge, Judgement, TextVerifier, Unverifiable

RowOrder = Literal["auto", "list", "multiset", "set"]
Dialect = Literal[
    "bigquery",
    "clickhouse",
    "databricks",
    "duckdb",
    "mysql",
    "oracle",
    "postgres",
    "presto",
    "redshift",
    "snowflake",
    "spark",
    "sqlite",
    "trino",
    "tsql",
]
MAX_DATABASES = 8
EXTRA = "sql"
TAGS = ("sql", "sqlite", "sqlite3", "duckdb", "postgres", "postgresql", "mysql", "bigquery", "tsql")
# The end of a query that gives its rows an order: the `order by 1` of `select a from t order by 1`.
_ORDERED = re.compile(r"\border\s+by\b(?![^()]*+\))", re.IGNORECASE)
# The beginning of a query, behind comments: `select`, `with`, `values`.
_QUERY = re.compile(r"(?>\s+|--[^\n]*\n|/\*.*?\*/)*+(?:select|with|values)\b", re.DOTALL | re.I)


# A label before a query, or a line that announces it: `SQL:`, `**Answer:**`, `Here is my query:`.
_LABEL = re.compile(
    r"(?:[*_#\s]{0,8}(?:the\s+|final\s+)?(?:sql|sqlite|answer|(?:sql\s*)?query)(?:\s+is)?[*_\s]{0,8}:"
    r"|[*_ ]{0,4}\w[^\n;`]{0,200}:[*_ ]{0,4}\n|\#{1,6} [^\n;`]{1,100}\n)"
    r"[*_\s]{0,8}(?=[`/(-]|select\b|with\b|values\b)",
    re.IGNORECASE,
)
# The beginning of a paragraph of prose: `Explanation: it`, `This query`.
_PROSE = re.compile(
    r"[*_#]{0,4}(?!(?:From|Where|Group|Order|Having|Limit|Offset|Union|Intersect|Except|Join|Left|Right|Inner"
    r"|Full|Cross|Natural|On|And|Or|Window)\b)[A-Z][a-z]*(?:[*_]{0,4}:| [a-z]+ )"
)
# A sign that a paragraph holds a statement of SQL: a semicolon, a fence, `SELECT`.
_MAY_BE_QUERY = re.compile(
    r"[;`]|\b(?:SELECT|INSERT|UPDATE|DELETE|DROP|CREATE|ALTER|ATTACH|PRAGMA)\b"
    r"|^[ \t]*(?i:select|with|values|insert|update|delete|drop|create|alter|attach|pragma|replace"
    r"|vacuum|begin|commit)\b",
    re.MULTILINE,
)


class SqlReason(Reason):
    """Reasons of `sql`."""

    EQUAL = "equal", "1: the query gives the wanted rows on every database."
    DIFFERENT = (
        "different",
        "0: the query gives other rows; `details.difference` has the first one.",
    )
    NO_TABLE = (
        "no_table",
        "0: the rows are equal, but only reference.query reads a table (SQLite alone tells).",
    )
    NOT_ALLOWED = (
        "not_allowed",
        "0: the answer is more than one query, writes, attaches, loads, or asks for the time, a "
        "random number or the settings; `details.problem` says which.",
    )
    INVALID = "invalid", "0: the engine does not take the query; `details.problem` is its message."
    TOO_MANY_STEPS = "too_many_steps", "0: the query takes more than max_steps instructions."
    TOO_MANY_ROWS = "too_many_rows", "0: the query gives more than max_rows rows."
    RESULT_TOO_LARGE = "result_too_large", "0: a value, or the query's work, takes too much memory."
    NO_ANSWER = "no_answer", "0: the completion has no query."
    AMBIGUOUS_ANSWER = "ambiguous_answer", "0: the answer tags have different contents."
    MISSING_PACKAGE = (
        "missing_package",
        f"unverifiable: DuckDB and dialects need `pip install reward-verifier[{EXTRA}]`.",
    )


_REASONS = {
    "not_allowed": SqlReason.NOT_ALLOWED,
    "invalid": SqlReason.INVALID,
    "too_many_steps": SqlReason.TOO_MANY_STEPS,
    "too_many_rows": SqlReason.TOO_MANY_ROWS,
    "too_large": SqlReason.RESULT_TOO_LARGE,
}


class Sql(TextVerifier):
    """1 if the query gives the rows of the reference, else 0."""

    purpose: ClassVar[str] = (
        "1 if the query in the answer gives the rows of reference.query, or reference.rows, on "
        "reference.database (SQL that makes an SQLite or DuckDB database, or {sqlite: base64 of a "
        "file}; or several in a list, against coincidence), else 0. It can only read"
    )
    needs: ClassVar[tuple[str, ...]] = ("database",)
    reasons: ClassVar[Iterable[Reason]] = SqlReason

    type: Literal["sql"] = "sql"
    engine: Literal["sqlite", "duckdb"] = Field(
        default="sqlite",
        description="the database that the queries run on; duckdb, which needs the extra `sql`, "
        "counts no steps: a query that takes long ends at the item's limits",
    )
    dialect: Dialect | None = Field(
        default=None,
        description="dialect of the answer and of reference.query, which sqlglot (the extra `sql`) "
        "translates to the engine's; default: the engine's",
    )
    rows: RowOrder = Field(
        default="auto",
        description="how rows are compared; auto: as a list where reference.query orders them, "
        "else as a multiset",
    )
    column_names: bool = Field(
        default=False, description="whether the names of the columns must be equal too"
    )
    max_rows: int = Field(default=10_000, gt=0, le=100_000, description="most rows of a result")
    max_steps: int = Field(
        default=20_000_000,
        gt=0,
        le=200_000_000,
        description="most instructions of SQLite's machine, of which it takes 50 million a second",
    )
    part: AnswerPart = Field(default="answer", description=PART_DESCRIPTION)
    reveal_expected: bool = Field(default=False, description=REVEAL_EXPECTED_DESCRIPTION)

    @property
    def task_size(self) -> int:
        """A small task: a query may take half a second."""
        return 16

    def prepare(self, reference: Mapping[str, Any]) -> Judge:
        """Read the reference, and return the judge of completions."""
        wanted = self._wanted(reference)
        order = self._order(reference)

        def judge(completion: Completion) -> Judgement:
            try:
                answer = answer_part(completion.text, self.part)
            except SeveralAnswers:
                return Judgement(0.0, SqlReason.AMBIGUOUS_ANSWER)
            query = None if answer is None else query_in(answer)
            if query is None:
                return Judgement(0.0, SqlReason.NO_ANSWER)
            for database, expected in wanted:
                try:
                    found = self._run(database, query)
                except QueryFailed as error:
                    return Judgement(0.0, _REASONS[error.kind], query, {"problem": str(error)})
                if not self._is_same(found, expected, order):
                    details = {"rows": len(found.rows), "wanted": len(expected.rows)}
                    details |= _first_difference(found, expected, order)
                    if not self.reveal_expected:
                        details = without_wanted(details)
                    return Judgement(0.0, SqlReason.DIFFERENT, query, details)
                if expected.reads_table and found.reads_table is False:
                    return Judgement(0.0, SqlReason.NO_TABLE, query)
            return Judgement(1.0, SqlReason.EQUAL, query)

        return judge

    def _run(self, database: QueryableDatabase, query: str) -> QueryResult:
        """The result of a query in the dialect. Raises QueryFailed, Unverifiable."""
        if self.dialect is not None and self.dialect != self.engine:
            try:
                from verifier_service.sql_dialects import translated  # noqa: PLC0415  extra
            except ImportError as error:
                raise _missing_package() from error
            query = translated(query, self.dialect, self.engine)
        return database.run(query, max_steps=self.max_steps, max_rows=self.max_rows)

    def _database(self, content: Any) -> QueryableDatabase:
        """A database of the engine. Raises BadDatabase, Unverifiable."""
        if self.engine == "sqlite":
            from verifier_service.sqlite_queries import SqliteDatabase  # noqa: PLC0415

            return SqliteDatabase(content)
        try:
            from verifier_service.duckdb_queries import DuckDatabase  # noqa: PLC0415  extra
        except ImportError as error:
            raise _missing_package() from error
        return DuckDatabase(content)

    def _wanted(self, reference: Mapping[str, Any]) -> list[tuple[QueryableDatabase, QueryResult]]:
        """Each database with the wanted result on it. Raises Unverifiable."""
        content = reference.get("database")
        if content is None or content == "" or content == []:
            raise missing("database", reference)
        contents = content if isinstance(content, list) else [content]
        if len(contents) > MAX_DATABASES:
            raise bad("database", f"found {len(contents)}, expected at most {MAX_DATABASES}")
        found = []
        for one in contents:
            try:
                database = self._database(one)
            except BadDatabase as error:
                raise bad("database", str(error)) from error
            found.append((database, self._expected(reference, database)))
        return found

    def _expected(self, reference: Mapping[str, Any], database: QueryableDatabase) -> QueryResult:
        """The wanted result on a database. Raises Unverifiable."""
        query = reference.get("query")
        if isinstance(query, str) and query.strip():
            try:
                return self._run(database, query)
            except QueryFailed as error:
                raise bad("query", f"{error.kind}: {error}"[:200]) from error
        rows = reference.get("rows")
        if rows is None:
            raise missing("query", reference, instead="rows")
        if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
            raise bad("rows", f"found {kind(rows)}, expected a list of lists")
        nested = next((one for row in rows for one in row if isinstance(one, list | dict)), None)
        if nested is not None:
            raise bad("rows", f"found {kind(nested)} in a row, expected texts, numbers and nulls")
        columns = reference.get("columns", [])
        if not isinstance(columns, list) or (self.column_names and not columns):
            raise bad("columns", "expected a list of names, which `column_names` needs")
        lengths = sorted({len(row) for row in rows} | ({len(columns)} if columns else set()))
        if len(lengths) > 1:
            raise bad("rows", f"found rows or names of {lengths[0]} and {lengths[-1]} columns")
        return QueryResult(tuple(map(str, columns)), [tuple(map(_value, row)) for row in rows])

    def _order(self, reference: Mapping[str, Any]) -> RowOrder:
        if self.rows != "auto":
            return self.rows
        query = reference.get("query")
        return "list" if isinstance(query, str) and _ORDERED.search(query) else "multiset"

    def _is_same(self, found: QueryResult, wanted: QueryResult, order: RowOrder) -> bool:
        if self.column_names and [one.lower() for one in found.columns] != [
            one.lower() for one in wanted.columns
        ]:
            return False
        if found.rows and found.rows == wanted.rows:
            return True
        given, expected = found.plain_rows, wanted.plain_rows
        if not given and not expected:
            return not wanted.columns or len(found.columns) == len(wanted.columns)
        if order == "list" or given == expected:
            return given == expected
        if order == "set":
            return set(given) == set(expected)
        return Counter(given) == Counter(expected)


def _missing_package() -> Unverifiable:
    message = f"it needs reward-verifier[{EXTRA}], which the service has not"
    return Unverifiable(SqlReason.MISSING_PACKAGE, message)


def query_in(answer: str) -> str | None:
    """The query of an answer: its last fenced block of SQL, or all of it where it begins as one.

    A label before it, inline code around it and prose after it are none of it.

    >>> query_in("So:\\n```sql\\nselect 1;\\n```"), query_in("SQL: `select 1`")
    ('select 1', 'select 1')
    >>> query_in("I would select one.") is None
    True
    """
    block = last_block(answer, TAGS)
    if block is not None:
        return block.strip().rstrip(";").strip() or None
    text = answer.strip()
    label = _LABEL.match(text)
    text = text[label.end() :] if label else text
    if text.startswith("`") and text.endswith("`") and text.count("`") == 2:
        text = text[1:-1]
    if _QUERY.match(text) is None:
        return None
    return _without_prose(text).strip().rstrip(";").strip()


def _without_prose(text: str) -> str:
    """A text up to the lines that explain its query; lines that may be a query stay."""
    query, ends, prose = text.partition(";\n")
    if not ends:
        query, _, prose = text.partition("\n\n")
        if not _PROSE.match(prose.lstrip()):
            return text
    return text if ";" in query or _MAY_BE_QUERY.search(prose) else query


def _first_difference(found: QueryResult, wanted: QueryResult, order: RowOrder) -> dict[str, Any]:
    """The first row that is another one, missing or one too many; else the columns' names."""
    given, expected = found.plain_rows, wanted.plain_rows
    if order == "list":
        for place, (one, other) in enumerate(zip_longest(given, expected)):
            if one != other:
                return difference(["rows", place], *(_row(rows, place) for rows in (wanted, found)))
    missing_place = _first_place(expected, given, order)
    if missing_place is not None:
        return difference(["rows", missing_place], wanted=wanted.rows[missing_place])
    superfluous = _first_place(given, expected, order)
    if superfluous is not None:
        return difference(["rows", superfluous], given=found.rows[superfluous])
    return difference(["columns"], wanted.columns, found.columns)


def _row(result: QueryResult, place: int) -> Any:
    return result.rows[place] if place < len(result.rows) else ABSENT


def _first_place(
    rows: Sequence[ResultRow], others: Sequence[ResultRow], order: RowOrder
) -> int | None:
    """The place of the first row that the others have not, or not as often; None: they have all."""
    available = Counter(others)
    if order == "set":
        available = Counter(dict.fromkeys(available, len(rows)))
    for place, row in enumerate(rows):
        if available[row] <= 0:
            return place
        available[row] -= 1
    return None


def _value(value: Any) -> Any:
    return int(value) if isinstance(value, bool) else value
