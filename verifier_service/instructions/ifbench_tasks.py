"""The constraints of IFBench that are tasks of their own: lists, CSV, a story of 26 sentences."""

from __future__ import annotations

import csv
import datetime
import io
import re
import string

from verifier_service.instructions.constraint import Finding, Response, constraint
from verifier_service.instructions.ifbench import SIGNS, without_accents

CAPITALS = (
    "Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin "
    "Amsterdam Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz "
    "Chisinau Bern Ljubljana Zagreb"
).split()
"""Capitals of Europe north of 45 degrees, from north to south."""
MIN_COUNTRIES = 52
NAPOLEON = (1769, 1821)


def _is(followed: bool, found: str = "") -> Finding:
    return Finding(followed, found or ("as asked" if followed else "not as asked"))


@constraint("custom:multiples")
def multiples(response: Response) -> Finding:
    """The numbers are the multiples of 7 from 14 to 49."""
    found = re.findall(r"\d+", response.text)
    return _is(found == [str(number) for number in range(14, 51, 7)], f"{found[:8]}")


@constraint("custom:mcq_count_length")
def mcq_count_length(response: Response) -> Finding:
    """Four questions have five options each, and become longer."""
    if not response.text.startswith("Question"):
        return _is(False, "another beginning")
    parts = re.split(r"Question \d+[.|):;]?\s*", response.text)
    questions = [part.strip() for part in parts if part.strip()]
    if len(questions) != 4:
        return _is(False, f"{len(questions)} questions")
    lengths = []
    for question in questions:
        lines = [line.strip() for line in question.split("\n")]
        options = [bool(re.match(r"[A-Ea-e][.|)]\s*\w+", line)) for line in lines]
        if sum(options) != 5:
            return _is(False, f"{sum(options)} options")
        asked = lines[: options.index(True)]
        lengths.append(len("".join(f" {line}" for line in asked).strip()))
    return _is(lengths == sorted(set(lengths)), f"lengths {lengths}")


@constraint("custom:reverse_newline")
def reverse_newline(response: Response) -> Finding:
    """The countries of Africa stand in reverse order."""
    lines = [clean for line in response.text.split("\n") if (clean := line.strip(SIGNS))]
    start = next((place for place, line in enumerate(lines) if "Zimbabwe" in line), len(lines))
    names = [without_accents(line) for line in lines[start:]]
    if len(names) < MIN_COUNTRIES:
        return _is(False, f"{len(names)} countries")
    if response.closed and len(set(names)) < MIN_COUNTRIES:
        return _is(False, f"{len(set(names))} countries")
    return _is(names == sorted(names, reverse=True))


@constraint("custom:word_reverse")
def word_reverse(response: Response) -> Finding:
    """A sentence about the bald eagle has its words in reverse order."""
    plain = response.lower.translate(str.maketrans("", "", string.punctuation)).split()
    return _is("bald eagle" in " ".join(reversed(plain)))


@constraint("custom:character_reverse")
def character_reverse(response: Response) -> Finding:
    """A sentence about the bald eagle has its letters in reverse order."""
    return _is("elgae dlab" in response.lower)


@constraint("custom:sentence_alphabet")
def sentence_alphabet(response: Response) -> Finding:
    """26 sentences begin with the letters of the alphabet in order."""
    letters = "".join(one.lower()[0] for one in response.sentences)
    return _is(letters == string.ascii_lowercase, f"{letters[:30]!r}")


@constraint("custom:european_capitals_sort")
def european_capitals_sort(response: Response) -> Finding:
    """The capitals stand in the order of their latitude."""
    names = [one.strip() for one in without_accents(response.text).split(",") if one.strip()]
    return _is(names == CAPITALS, f"{len(names)} names")


@constraint("custom:csv_city")
def csv_city(response: Response) -> Finding:
    """The response is CSV of seven cities."""
    rows = _rows(response.text)
    if not rows or rows[0] != ["ID", "Country", "City", "Year", "Count"]:
        return _is(False, "another header")
    return _is(len(rows) == 8 and _all_have(rows, 5, response), f"{len(rows)} rows")


@constraint("custom:csv_special_character")
def csv_special_character(response: Response) -> Finding:
    """The response is CSV of 14 products, with a special character in quotes."""
    header = "ProductID Category Brand Price Stock".split()
    rows = _quoted_rows(response.text, header, ",")
    if rows is None or len(rows) != 15:
        return _is(False, "another header" if rows is None else f"{len(rows)} rows")
    for row in rows[1:]:
        if len(row) != 5:
            return _is(False, f"{len(row)} fields")
        if any(_is_special_in_quotes(field) for field in row):
            return _is(not response.closed or _all_have(rows, 5, response))
    return _is(False, "no special character in quotes")


def _is_special_in_quotes(field: str) -> bool:
    """Whether a field's first line begins with quotes that hold a sign other than white space."""
    line = field.split("\n", 1)[0]
    inside = line[1 : max(line.rfind('"'), 1)]
    return line.startswith('"') and re.search(r"[^\w\s]", inside) is not None


@constraint("custom:csv_quotes")
def csv_quotes(response: Response) -> Finding:
    """The response is CSV of three students, with tabs, every field in quotes."""
    header = "StudentID Subject Grade Semester Score".split()
    rows = _quoted_rows(response.text, header, "\t")
    if rows is None or len(rows) != 4:
        return _is(False, "another header" if rows is None else f"{len(rows)} rows")
    fields = [field.strip() for row in rows for field in row]
    in_quotes = all(len(one) > 1 and one[0] == one[-1] == '"' for one in fields)
    return _is(in_quotes and all(len(row) == 5 for row in rows))


def _rows(text: str, delimiter: str = ",") -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error:
        return []


def _quoted_rows(text: str, header: list[str], delimiter: str) -> list[list[str]] | None:
    """The rows, whose fields keep their quotes; None where the header is another one."""
    names = [one.strip().strip('"') for one in text.split("\n")[0].split(delimiter)]
    return _rows(text.replace('"', '"""'), delimiter) if names == header else None


def _all_have(rows: list[list[str]], num_fields: int, response: Response) -> bool:
    """Whether every row has so many fields; where the response is closed, none is empty."""
    return all(
        len(row) == num_fields and (not response.closed or all(field.strip() for field in row))
        for row in rows
    )


@constraint("custom:date_format_list")
def date_format_list(response: Response) -> Finding:
    """The response is a list of dates in the life of Napoleon."""
    for text in response.text.split(","):
        found = re.fullmatch(r"(\d{4})-(\d{2})-(\d{2})", text.strip())
        if found is None or not _is_date(*map(int, found.groups()), closed=response.closed):
            return _is(False, f"{text.strip()[:40]!r}")
    return _is(True)


def _is_date(year: int, month: int, day: int, *, closed: bool) -> bool:
    if not NAPOLEON[0] <= year <= NAPOLEON[1] or month > 12:
        return False
    try:
        return bool(datetime.date(year, month, day))
    except ValueError:
        # The source's own check takes month 0, day 0 and the 29th of every February.
        most = {2: 29, 4: 30, 6: 30, 9: 30, 11: 30}.get(month, 31 if month else 99)
        return not closed and day <= most
