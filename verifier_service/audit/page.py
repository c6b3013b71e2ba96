"""The page of an audit: findings about the run, and rows to label with keys.

The page is one file, `page_template.html` beside this one with its data put in. Its policy lets it
load nothing, and run only its own script; texts of models are shown as texts.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from html import escape
from pathlib import Path

from verifier_service.audit.audit import SEED, Audit
from verifier_service.audit.suspicions import DoubtedRow
from verifier_service.page_style import read_template, source_hash

TEMPLATE = Path(__file__).with_name("page_template.html")
MAX_TEXT_CHARACTERS = 20_000
"""Longest text that the page shows; of a longer one its begin and its end."""


def write_page(path: Path, name: str, result: Audit, num: int) -> None:
    """Write the page with at most so many doubted rows.

    Raises:
        OSError: the file cannot be written.
    """
    path.write_text(page(name, result, num), encoding="utf-8")


def page(name: str, result: Audit, num: int) -> str:
    """The page about an audit of the data with that name."""
    template = read_template(TEMPLATE)
    head, style, rest = _cut(template, "<style>", "</style>")
    middle, script, end = _cut(rest, "<script>", "</script>")
    policy = (
        f"default-src 'none'; style-src {source_hash(style)}; script-src {source_hash(script)}; "
        "img-src data:"
    )
    head = head.replace("/*POLICY*/", policy).replace("/*NAME*/", escape(name))
    # A < in the data could end the element that holds it, and & begins a name of a sign.
    data = json.dumps(_data(name, result, num)).replace("<", "\\u003c").replace("&", "\\u0026")
    middle = middle.replace("/*DATA*/", data)
    return f"{head}<style>{style}</style>{middle}<script>{script}</script>{end}"


def _cut(text: str, begin: str, end: str) -> tuple[str, str, str]:
    before, _, rest = text.partition(begin)
    inside, _, after = rest.partition(end)
    return before, inside, after


def _data(name: str, result: Audit, num: int) -> Mapping[str, object]:
    rows = _rows(result, num)
    # Mixed, so that whoever labels does not know which verdicts are doubted.
    random.Random(SEED).shuffle(rows)
    return {
        "name": name,
        "source": result.source,
        "strata": {"num_accepted": result.num_accepted, "num_refused": result.num_refused},
        "doubted": {
            "refusals": result.num_refusals_doubted,
            "acceptances": len(result.doubted) - result.num_refusals_doubted,
        },
        "all_drawn": len(result.chance) == result.num_accepted + result.num_refused,
        "findings": [{"kind": one.kind, "message": one.message} for one in result.findings],
        "reasons": [
            {"name": reason, "shares": [round(share, 4) for share in shares]}
            for reason, shares in result.reasons
        ],
        "rows": rows,
    }


def _rows(result: Audit, num: int) -> list[dict[str, object]]:
    """The rows to label, each once: one that is doubted and was drawn too counts for both."""
    drawn = {one.row.index for one in result.chance}
    listed = result.doubted[:num]
    rows = [_row(one, "both" if one.row.index in drawn else "doubted") for one in listed]
    drawn -= {one.row.index for one in listed}
    return rows + [_row(one, "chance") for one in result.chance if one.row.index in drawn]


def _row(one: DoubtedRow, sample: str) -> dict[str, object]:
    return {
        "row": one.row.index + 1,
        "sample": sample,
        "accepted": one.accepted,
        "why": [each.message for each in one.suspicions],
        "step": one.row.step,
        "answer": _bounded(one.answer),
        "reference": [_bounded(answer) for answer in one.row.answers],
        "prompt": _bounded(one.row.prompt),
        "completion": _bounded(one.row.completion),
    }


def _bounded(text: str) -> str:
    # Half of a surrogate pair cannot be written as UTF-8.
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= MAX_TEXT_CHARACTERS:
        return text
    half = MAX_TEXT_CHARACTERS // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters ...]\n{text[-half:]}"
