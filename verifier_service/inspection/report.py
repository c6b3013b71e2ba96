"""One self-contained HTML page about an inspection: what is usable, what is wrong, and where.

The page is `report_template.html` beside this file with its body put in. It has no script, and its
policy lets it load nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path
from typing import Any

from verifier_service.inspection.columns import prompt_of
from verifier_service.inspection.findings import FindingKind
from verifier_service.inspection.inspection import Inspection
from verifier_service.inspection.sources import DataSource
from verifier_service.inspection.summary import summary_of
from verifier_service.page_style import read_template, source_hash

TEMPLATE = Path(__file__).with_name("report_template.html")
NUM_EXAMPLES = 20
"""Most rows that are shown for a kind of finding."""
MAX_PROMPT_CHARACTERS = 240


def write_report(path: Path, source: DataSource, inspection: Inspection) -> None:
    """Write the page.

    Raises:
        OSError: the file cannot be written.
    """
    path.write_text(page(source, inspection), encoding="utf-8")


def page(source: DataSource, inspection: Inspection) -> str:
    """The page about the rows of a source."""
    template = read_template(TEMPLATE)
    body = "\n".join(_body(source, inspection))
    # The body comes last: what stands in the data is never looked through for places.
    head = template.replace("/*POLICY*/", _policy(template))
    head = head.replace("/*NAME*/", _text(Path(source.data).name))
    before, _, after = head.partition("<!--BODY-->")
    return before + body + after


def _policy(template: str) -> str:
    style = template.partition("<style>")[2].partition("</style>")[0]
    return f"default-src 'none'; style-src {source_hash(style)}; img-src data:"


def _text(value: object) -> str:
    """A text in HTML; signs that no page can hold, and such that turn its direction, are shown."""
    shown = "".join(one if one.isprintable() or one == " " else " " for one in str(value))
    return escape(shown)


def _body(source: DataSource, inspection: Inspection) -> Iterator[str]:
    summary = summary_of(inspection)
    split = "" if source.split == "train" else f" [{_text(source.split)}]"
    title = f"Inspection of {_text(source.data)}{split}"
    yield f'<header><div class="wide"><h1>{title}</h1></div></header>'
    yield '<main class="wide">'
    yield from _headline(summary)
    yield "<h2>Findings</h2>"
    rows_by_kind = {kind: rows[:NUM_EXAMPLES] for kind, rows in inspection.rows_by_kind().items()}
    prompts = _prompts(source, rows_by_kind)
    for one in summary["findings"]:
        yield from _finding(one, inspection, rows_by_kind[one["kind"]], prompts)
    if not summary["findings"]:
        yield '<p class="empty">Nothing was found: every row is usable.</p>'
    yield from _table("Shapes", ("format", "verifier"), summary["shapes"], summary["rows"])
    if summary["unproven_programs"]:
        lack = f"of {summary['programs']} rows of programs have no solution to run"
        yield f'<p class="small dim">{summary["unproven_programs"]} {lack}.</p>'
    if summary["solve_rates"]:
        known = sum(band["rows"] for band in summary["solve_rates"])
        yield from _table("Solve rates", ("band",), summary["solve_rates"], known)
    yield "</main>"


def _headline(summary: Mapping[str, Any]) -> Iterator[str]:
    total, kept, unusable = summary["rows"], summary["kept"], summary["unusable"]
    parts = {"kept": kept, "repeated": total - kept - unusable, "unusable": unusable}
    yield f'<p class="one">{kept / total:.1%} <span>of {total:,} rows are of use</span></p>'
    label = ", ".join(f"{number} {name}" for name, number in parts.items())
    yield f'<svg class="strip" role="img" aria-label="{label}" preserveAspectRatio="none" '
    yield 'viewBox="0 0 100 1">'
    start = 0.0
    for name, number in parts.items():
        width = 100 * number / total
        yield f'<rect class="{name}" x="{start:.3f}" width="{width:.3f}" height="1"/>'
        start += width
    yield '</svg><ul class="legend">'
    for name, number in parts.items():
        sign = f'<svg viewBox="0 0 1 1" aria-hidden="true"><rect class="{name}" width="1" '
        yield f'<li>{sign}height="1"/></svg>{name} {number:,}</li>'
    yield "</ul>"


def _finding(
    one: Mapping[str, Any], inspection: Inspection, rows: list[int], prompts: Mapping[int, str]
) -> Iterator[str]:
    look = "bad" if one["unusable"] else "warn"
    share = one["rows"] / inspection.num_rows
    yield f'<details><summary><span class="kind {look}">{one["kind"]}</span>'
    yield f'<span class="meaning">{_text(one["meaning"])}</span>'
    yield f'<span class="count">{one["rows"]:,} <span class="dim">{share:.1%}</span>'
    yield f'</span></summary><div class="inside"><p class="todo">{_text(one["remedy"])}</p>'
    yield '<table class="examples"><thead><tr><th scope="col">row</th><th scope="col">problem</th>'
    yield '<th scope="col">found</th></tr></thead><tbody>'
    for index in rows:
        found = [each for each in inspection.findings[index] if each.kind == one["kind"]]
        yield f'<tr><td class="number">{index + 1}</td>'
        yield f'<td class="problem">{_text(prompts.get(index, ""))}</td>'
        yield f"<td>{_text('; '.join(each.message for each in found))}</td></tr>"
    yield "</tbody></table>"
    if one["rows"] > len(rows):
        yield f'<p class="small dim">and {one["rows"] - len(rows):,} more; --findings lists all</p>'
    yield "</div></details>"


def _table(
    title: str, names: tuple[str, ...], rows: list[dict[str, Any]], total: int
) -> Iterator[str]:
    heads = "".join(f'<th scope="col">{name}</th>' for name in names)
    yield f'<h2>{title}</h2><div class="card"><table><thead><tr>{heads}'
    yield '<th scope="col" class="number">rows</th><th></th></tr></thead><tbody>'
    for row in rows:
        cells = "".join(f"<td><code>{_text(row[name])}</code></td>" for name in names)
        width = 100 * row["rows"] / total
        yield f'<tr>{cells}<td class="number">{row["rows"]:,}</td><td class="bar">'
        yield '<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">'
        yield f'<rect width="{width:.3f}" height="1"/></svg></td></tr>'
    yield "</tbody></table></div>"


def _prompts(source: DataSource, rows_by_kind: Mapping[FindingKind, list[int]]) -> dict[int, str]:
    """The beginnings of the problems that the page shows, by row."""
    wanted = {index for rows in rows_by_kind.values() for index in rows}
    found: dict[int, str] = {}
    for row in source.rows() if wanted else ():
        if row.index in wanted:
            found[row.index] = prompt_of(row.columns)[:MAX_PROMPT_CHARACTERS]
            if len(found) == len(wanted):
                break
    return found
