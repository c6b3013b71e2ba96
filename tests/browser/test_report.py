"""The report of a run as people read it: curves, filters, keyboard, both widths, live."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import NARROW, WIDE, OpenPage
from tests.logged_runs import row_of, write_lines, write_run, write_step
from trainer_client.run import report_server
from trainer_client.run.json_lines import read_lines
from trainer_client.run.report import write_report
from trainer_client.run.report_server import open_server

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

HOSTILE = [
    "<img src=x onerror='window.pwned=1'>",
    "</script><script>window.pwned=1</script><!--<script>",
    "<svg onload=window.pwned=1><a href='javascript:window.pwned=1'>7</a></svg>",
    "</pre></details><iframe srcdoc='<script>parent.pwned=1</script>'></iframe>",
    "`${window.pwned=1}` {{7*7}} \u202e\u2028\U0001f600\x00\ud800",
]
OpenReport = Callable[..., "Page"]


@pytest.fixture
def open_report(open_page: OpenPage, tmp_path: Path) -> OpenReport:
    """Opens the page of a run, from its file, without a server."""

    def opened(*, page_options: dict[str, object] | None = None, **options: object) -> Page:
        run_dir = write_run(tmp_path / "run", **options)  # type: ignore[arg-type]
        path = tmp_path / "report.html"
        write_report(run_dir, path)
        return open_page(url=f"file://{path}", path="", **(page_options or {}))

    return opened


def told(page: Page) -> str:
    text: str = page.locator("#told").inner_text()
    return text


def test_the_head_has_the_one_number_and_the_facts(open_report: OpenReport) -> None:
    page = open_report()
    one = page.locator("#one").inner_text()
    assert "0.400" in one
    assert "0.850" in one
    assert "+0.450" in one
    assert "1 accuracy + 0.1 format" in page.locator("#facts").inner_text()
    assert page.locator("#state").inner_text() == "finished: 30 steps"


def test_three_curves_are_larger_and_say_where_their_axes_begin(open_report: OpenReport) -> None:
    page = open_report()
    large = page.locator("#large svg")
    assert large.count() == 3
    heights = {one.bounding_box()["height"] for one in page.locator("#small svg").all()}
    assert all(one.bounding_box()["height"] > max(heights) for one in large.all())
    for top in page.locator("#large .top, #small .top").all_inner_texts():
        assert "axis from" in top
    length = page.locator(".chart", has=page.get_by_role("heading", name="Completion length"))
    assert "not from 0; cut off at 512, beyond the axis" in length.inner_text()


def test_warnings_stand_on_the_curves_and_limits_in_them(open_report: OpenReport) -> None:
    page = open_report()
    kl = page.locator(".chart", has=page.get_by_role("heading", name="KL to the start policy"))
    assert kl.locator("text.limit").all_text_contents() == ["warns above 0.05", "stops above 0.1"]
    assert kl.locator("text.flag").all_text_contents() == ["2"]
    kl.get_by_role("slider").fill("12")
    assert "Warning 2: policy/kl_divergence is 0.064" in kl.locator(".at").inner_text()
    assert "0.064" in kl.locator(".legend").inner_text()


def test_a_slider_reads_all_curves_at_a_step_by_keyboard(open_report: OpenReport) -> None:
    page = open_report()
    slider = page.locator("#large").get_by_role("slider").first
    slider.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    text = slider.get_attribute("aria-valuetext")
    assert text is not None
    assert text.startswith("step 1: accuracy, mean score 0.")
    assert "step 1:" in page.locator("#small .legend").first.inner_text()


def test_behind_a_chart_is_its_table(open_report: OpenReport) -> None:
    page = open_report()
    page.locator("#large details").nth(1).locator("summary").click()
    table = page.get_by_role("group", name="Held-out problems, table")
    assert table.locator("tbody tr").all_inner_texts() == [
        "0\t0.4", "10\t0.55", "20\t0.7", "30\t0.85",
    ]  # fmt: skip
    page.locator("#reason-charts details summary").first.click()
    assert "different" in page.get_by_role("group", name="accuracy, table").inner_text()


def test_rollouts_are_filtered_by_reason_step_and_words(open_report: OpenReport) -> None:
    page = open_report(steps=4)
    assert told(page) == "32 completions in 4 groups"
    page.get_by_label("Reason", exact=True).select_option('["accuracy","different"]')
    assert page.locator("#groups .score.bad").count() == page.locator(".completion").count() > 0
    page.get_by_label("Reason", exact=True).select_option("")
    page.get_by_label("Step", exact=True).select_option("")
    assert told(page) == "128 completions in 16 groups"
    page.get_by_label("Search", exact=True).fill("3+1+9")
    assert told(page) == "8 completions in 1 group"
    assert page.locator(".posing").inner_text().count("13") == 1
    page.get_by_label("Search", exact=True).fill("no such words")
    assert page.get_by_text("No completion here is like that.").is_visible()


def test_one_problem_is_followed_over_the_steps(open_report: OpenReport) -> None:
    page = open_report(steps=9)
    page.get_by_role("button", name="This problem at its 3 steps").first.click()
    assert page.evaluate("document.activeElement.id") == "problem"
    trail = page.locator("#trail li").all_inner_texts()
    assert [text.split(":")[0] for text in trail] == ["step 3", "step 6", "step 9"]
    shown = page.locator(".group > summary").all_inner_texts()
    assert ["step 3" in shown[0], "step 9" in shown[2]] == [True, True]


def test_the_keyboard_goes_from_group_to_group(open_report: OpenReport) -> None:
    page = open_report(steps=30)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.locator(".group > summary").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator(".group").nth(1).get_attribute("open") is not None
    page.get_by_label("Step", exact=True).select_option("")
    more = page.get_by_role("button", name="Show 20 more of 120")
    more.focus()
    page.keyboard.press("Enter")
    assert page.locator(".group").count() == 40
    assert page.evaluate("document.activeElement.tagName") == "SUMMARY"


def test_nothing_that_a_model_wrote_becomes_markup(open_report: OpenReport) -> None:
    page = open_report(steps=1, groups=1, completions=HOSTILE, group_size=len(HOSTILE))
    shown = page.locator("pre[aria-label=Completion]").all_text_contents()
    assert len(shown) == len(HOSTILE)
    for text in HOSTILE[:4]:
        assert text in shown
    page.get_by_label("Search", exact=True).fill(HOSTILE[0])
    assert told(page) == "1 completion in 1 group"
    assert page.evaluate("window.pwned") is None
    assert page.locator("#rollouts").locator("img, iframe, script, svg, a").count() == 0


def test_the_policy_refuses_markup_scripts_and_requests(
    open_page: OpenPage, tmp_path: Path
) -> None:
    write_report(write_run(tmp_path / "run", steps=1), tmp_path / "report.html")
    refusals = ("TrustedHTML", "Trusted Type", "Content Security Policy", "violates")
    page = open_page(url=f"file://{tmp_path}/report.html", path="", allowed=refusals)
    markup = "document.body.innerHTML = '<b>x</b>'"
    refused = f"(() => {{ try {{ {markup} }} catch (e) {{ return e.name }} }})()"
    assert page.evaluate(refused) == "TypeError"
    asked = "fetch('http://127.0.0.1:9/').then(() => 'asked', (e) => e.name)"
    assert page.evaluate(asked) == "TypeError"


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_breaks_no_rule_of_accessibility(
    open_report: OpenReport, axe: str, viewport: dict[str, int], scheme: str
) -> None:
    options = {"viewport": viewport, "color_scheme": scheme, "bypass_csp": True}
    page = open_report(page_options=options)
    for summary in page.locator("#large summary, #reason-charts summary").all():
        summary.click()
    page.locator(".group > summary").nth(1).click()
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.get_by_role("main").count() == page.get_by_role("navigation").count() == 1


@pytest.fixture
def live(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """The URL of a served report, and the folder of its run of two steps."""
    monkeypatch.setattr(report_server, "SECONDS", 0.0)
    run_dir = write_run(tmp_path / "run", steps=2, finished=False, train={"steps": 40})
    with open_server(run_dir, "127.0.0.1", 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", run_dir
        server.shutdown()


def train_a_step(run_dir: Path, step: int) -> None:
    chosen = random.Random(step)
    rates = read_lines(run_dir / "solve_rates.jsonl") + write_step(run_dir, step, 4, 8, (), chosen)
    write_lines(run_dir / "solve_rates.jsonl", rates)
    rows = read_lines(run_dir / "metrics.jsonl")
    write_lines(run_dir / "metrics.jsonl", [*rows, row_of(step, 40, 32, chosen)])


def test_a_served_page_follows_the_run_and_keeps_what_is_read(
    open_page: OpenPage, live: tuple[str, Path]
) -> None:
    url, run_dir = live
    page = open_page(url=url)
    page.get_by_text("step 2 of 40").wait_for()
    slider = page.locator("#large").get_by_role("slider").first
    slider.focus()
    train_a_step(run_dir, 3)
    page.get_by_text("step 3 of 40").wait_for()
    assert "step 3" in page.locator(".group > summary").first.inner_text()
    assert slider.evaluate("node => node === document.activeElement")
    page.locator(".group > summary").nth(1).click()
    train_a_step(run_dir, 4)
    page.get_by_role("button", name="Show step 4").wait_for()
    assert "step 3" in page.locator(".group > summary").first.inner_text()
    page.get_by_role("button", name="Show step 4").click()
    assert "step 4" in page.locator(".group > summary").first.inner_text()
