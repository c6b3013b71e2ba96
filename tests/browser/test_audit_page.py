"""The page of an audit as people use it: keys, saved labels, both widths, hostile texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import NARROW, WIDE, OpenPage
from tests.browser.test_report import HOSTILE
from verifier_service.audit.audit import Audit
from verifier_service.audit.labels import read_labels
from verifier_service.audit.page import write_page
from verifier_service.audit.run_findings import RunFinding
from verifier_service.audit.scored_rows import ScoredRow, SourceVerdict
from verifier_service.audit.suspicions import DoubtedRow, Suspicion, SuspicionKind

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

OpenAudit = Callable[..., "Page"]


def doubted(index: int, text: str, accepted: bool, *, by_chance: bool) -> DoubtedRow:
    verdicts = {"accuracy": SourceVerdict(float(accepted), text)}
    row = ScoredRow(index, text, (text,), text, verdicts, (index,), step=index)
    why = () if by_chance else (Suspicion(SuspicionKind.SAME_TEXT, text),)
    return DoubtedRow(row, accepted, text, why)


@pytest.fixture
def open_audit(open_page: OpenPage, tmp_path: Path) -> OpenAudit:
    """Opens the page of an audit, from its file."""

    def opened(texts: list[str], **options: object) -> Page:
        rows = [doubted(index, text, False, by_chance=False) for index, text in enumerate(texts)]
        chance = [doubted(50 + index, "12", True, by_chance=True) for index in range(2)]
        findings = [RunFinding("length", text) for text in texts]
        reasons = [(text, [0.25, 0.5, 0.75, 1.0]) for text in texts]
        path = tmp_path / "audit.html"
        write_page(path, texts[0], Audit("accuracy", 9, 5, 4, rows, chance, findings, reasons), 50)
        return open_page(url=f"file://{path}", path="", **options)

    return opened


def test_keys_label_rows_and_the_labels_are_saved(open_audit: OpenAudit, tmp_path: Path) -> None:
    page = open_audit(["one", "two"])
    assert "1 of 4" in page.locator("#place").inner_text()
    assert "shown when you have labelled" in page.locator("#verdict").inner_text()
    for key in ("y", "n", "y", "y"):
        page.keyboard.press(key)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("n")
    assert "you disagree" in page.locator("#verdict").inner_text() or "as you say" in (
        page.locator("#verdict").inner_text()
    )
    with page.expect_download() as download:
        page.keyboard.press("s")
    path = tmp_path / "labels.jsonl"
    download.value.save_as(path)
    strata, labels = read_labels(path)
    assert (strata.num_accepted, strata.num_refused) == (5, 4)
    assert [one.right for one in labels] == [True, False, False, True]
    assert sorted(one.row for one in labels) == [1, 2, 51, 52]
    assert {one.row: one.sample for one in labels} == {
        1: "doubted",
        2: "doubted",
        51: "chance",
        52: "chance",
    }


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
def test_texts_of_models_stay_texts_and_fit(
    open_audit: OpenAudit, viewport: dict[str, int]
) -> None:
    page = open_audit([*HOSTILE, "word" * 400], viewport=viewport)
    for _ in range(7):
        page.keyboard.press("n")
    assert page.evaluate("window.pwned") is None
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= viewport["width"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_keeps_the_rules_of_accessibility(
    open_audit: OpenAudit, axe: str, scheme: str
) -> None:
    page = open_audit(["one", "two"], color_scheme=scheme)
    page.keyboard.press("y")
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [one["id"] for one in found] == []
