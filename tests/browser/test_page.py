"""The page at `/` as people use it: by mouse and keyboard, wide and narrow, with a key too."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from reward_verifier import playground_link
from tests.browser.conftest import KEY, NARROW, WIDE, OpenPage

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.browser

TABS = ("Playground", "Verifiers", "Status", "API")
UNAUTHORIZED = "status of 401"
"""Chromium's words on the console when the page asks without a key, or with a wrong one."""
HOSTILE = [
    "<img src=x onerror='window.pwned=1'>",
    "</textarea></pre><script>window.pwned=1</script>",
    "<svg onload=window.pwned=1><a href='javascript:window.pwned=1'>7</a></svg>",
    "\\boxed{<b onmouseover=window.pwned=1>7</b>}",
    "`<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>` ${window.pwned=1} {{7*7}}",
    "\u202e\\boxed{7}\u2028\U0001f600\x00",
]


def ready(page: Page) -> Page:
    """The page when it knows the service's verifiers."""
    page.locator("#examples button").first.wait_for()
    return page


def judged(page: Page) -> list[str]:
    """The texts of the cards of verdicts, when all are there."""
    page.locator("#results article").first.wait_for()
    page.locator("#results:not([aria-busy])").wait_for()
    found: list[str] = page.locator("#results article").all_inner_texts()
    return found


def example(page: Page, name: str) -> list[str]:
    ready(page).get_by_role("button", name=name, exact=True).click()
    return judged(page)


def fill(page: Page, verifier: str, reference: str, *completions: str, options: str = "") -> None:
    """Fill the form as people do."""
    ready(page).get_by_label("Verifier or profile").select_option(verifier)
    page.locator("#reference").fill(reference)
    boxes = page.locator("#completions textarea")
    for index, text in enumerate(completions):
        if index == boxes.count():
            page.get_by_role("button", name="+ another completion").click()
        boxes.nth(index).fill(text)
    if options:
        page.get_by_text("Options", exact=True).click()
        page.locator("#options").fill(options)


def judge(page: Page) -> list[str]:
    with page.expect_response("**/v1/score"):
        page.get_by_role("button", name="Judge", exact=True).click()
    return judged(page)


def test_an_example_shows_what_was_read_and_what_decided(open_page: OpenPage) -> None:
    page = open_page()
    cards = example(page, "Same value, five ways")
    assert len(cards) == 5
    assert page.locator("mark").all_inner_texts() == [
        *("0.5", "\\frac{2}{4}", "50%", "1/2", "x = 2^{-1}")
    ]
    assert all("equal" in card and " ms" in card for card in cards)
    assert "values compared by the service" in cards[2]
    assert "50 %" in cards[2]
    assert "both sides are the same text" in cards[3]
    assert "The final answer equals the reference" in cards[0]


def test_an_unusable_reference_is_told_from_a_wrong_answer(open_page: OpenPage) -> None:
    (card,) = example(open_page(), "No usable reference")
    assert "unverifiable" in card
    assert "the reference cannot be used" in card


def test_each_test_of_a_program_has_its_row(open_page: OpenPage) -> None:
    page = open_page()
    (card,) = example(page, "Input and output")
    rows = page.locator("#results tbody tr").all_inner_texts()
    assert len(rows) == 2
    assert "passed" in rows[0]
    assert "wrong_answer" in rows[1]
    assert "MiB" in rows[1]
    assert "1 of 2 tests passed" in card
    assert "a, b = map" in page.locator("mark").inner_text()


def test_a_profile_gives_every_verdict(open_page: OpenPage) -> None:
    page = open_page()
    fill(page, "profile:math", "2", "<think>1 + 1</think><answer>2</answer>")
    (card,) = judge(page)
    assert "reward" in card
    assert card.count(" ms") > 1


def test_places_count_characters_beyond_the_basic_plane(open_page: OpenPage) -> None:
    page = open_page()
    fill(page, "verifier:accuracy", "7", "\U0001f600\U0001f600 \\boxed{7}")
    judge(page)
    assert page.locator("mark").all_inner_texts() == ["7"]


def test_a_link_holds_the_input_and_judges_nothing_by_itself(open_page: OpenPage) -> None:
    page = open_page()
    fill(page, "verifier:exact_match", "é", "é \U0001f600", "b", options='{"part": "completion"}')
    page.get_by_role("button", name="Copy link").click()
    page.get_by_text("The link").wait_for()
    link = page.evaluate("location.hash")
    other = open_page()
    asked: list[str] = []
    other.on("request", lambda sent: asked.append(sent.url))
    other.goto(other.url + link)
    other.reload()
    other.get_by_text("The link filled the form").wait_for()
    boxes = other.locator("#completions textarea")
    assert [boxes.nth(0).input_value(), boxes.nth(1).input_value()] == ["é \U0001f600", "b"]
    assert other.locator("#verifier").input_value() == "verifier:exact_match"
    assert not any("/v1/score" in url for url in asked)
    assert len(judge(other)) == 2


def test_nothing_that_is_judged_becomes_markup(open_page: OpenPage) -> None:
    page = open_page()
    hostile = "<img src=x onerror='window.pwned=1'>"
    fill(page, "verifier:accuracy", f"7 {hostile}", *HOSTILE)
    cards = judge(page)
    assert len(cards) == len(HOSTILE)
    for card, text in zip(cards[:4], HOSTILE, strict=False):
        assert text in card
    fill(page, "verifier:regex", hostile, *HOSTILE, options=f'{{"name": "{hostile}"}}')
    assert hostile in judge(page)[0]
    page.locator("#options").fill(hostile)
    page.get_by_role("button", name="Judge", exact=True).click()
    page.get_by_role("alert").get_by_text("no JSON").wait_for()
    assert page.evaluate("window.pwned") is None
    elements = "img, iframe, script, svg, b, a"
    assert page.locator("#results").locator(elements).count() == 0
    assert page.locator("#same").locator(elements).count() == 0


def test_the_policy_refuses_markup_from_texts(open_page: OpenPage) -> None:
    page = open_page(allowed=("TrustedHTML", "Trusted Type"))
    made = "document.body.innerHTML = '<b>x</b>'"
    refused = f"(() => {{ try {{ {made} }} catch (e) {{ return e.name }} }})()"
    assert page.evaluate(refused) == "TypeError"


def test_the_link_of_the_client_fills_the_form(open_page: OpenPage) -> None:
    reference = {"answer": "5 km", "note": "é 五"}
    link = playground_link(
        "", ["It is 5 m.", "5 km"], reference, verifier={"type": "accuracy", "units": "require"}
    )
    page = ready(open_page(link))
    assert json.loads(page.locator("#reference").input_value()) == reference
    cards = judge(page)
    assert ["different" in card for card in cards] == [True, False]


def test_a_hostile_link_is_only_broken(open_page: OpenPage) -> None:
    page = open_page("/#input=eyJhIjox")
    page.get_by_text("The link is broken").wait_for()


def test_the_keyboard_is_enough(open_page: OpenPage) -> None:
    page = ready(open_page())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "skip"
    page.keyboard.press("Tab")
    for tab in ("tab-verifiers", "tab-status", "tab-api", "tab-play"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == tab
        assert page.get_by_role("tabpanel").first.get_attribute("aria-labelledby") == tab
    page.locator("#reference").focus()
    page.keyboard.type("2")
    page.keyboard.press("Tab")
    page.keyboard.type("It is 2.")
    page.keyboard.press("Control+Enter")
    assert "equal" in judged(page)[0]
    assert page.locator("#summary").inner_text() == "1 verdict: equal"


def test_a_refusal_is_read_out(open_page: OpenPage) -> None:
    page = open_page(allowed=("status of 422",))
    fill(page, "verifier:accuracy", "2", "2", options='{"tolerence": 1}')
    page.get_by_role("button", name="Judge", exact=True).click()
    page.get_by_role("alert").get_by_text("tolerence").wait_for()
    page.locator("#options").fill('{"rounding": 3}')
    judge(page)
    page.locator("#options").fill('{"roundin": 3}')
    page.get_by_role("button", name="Judge", exact=True).click()
    page.get_by_role("alert").get_by_text("roundin").first.wait_for()
    assert page.locator("#results article").count() == 0


def test_texts_name_fields_as_they_are(open_page: OpenPage) -> None:
    page = open_page()
    fill(page, "verifier:sql", "{}", "SELECT 1")
    (card,) = judge(page)
    assert "reference.database is needed" in card
    fill(page, "verifier:tool_calls", '{"tool_calls": []}', "f()")
    assert "`" not in page.locator("#purpose").inner_text()
    assert page.locator("#purpose code").count()
    fill(page, "verifier:accuracy", "2", "3")
    assert "The final answer differs from the reference." in judge(page)[0]


@pytest.mark.parametrize(
    ("reference", "answer", "offers"), [("9\\pi", "28.27", True), ("9.1", "28.27", False)]
)
def test_a_decimal_refused_beside_an_exact_reference_is_told_of_rounding(
    open_page: OpenPage, reference: str, answer: str, offers: bool
) -> None:
    page = open_page()
    fill(page, "verifier:accuracy", reference, answer)
    (card,) = judge(page)
    assert ('{"rounding": 3}' in card) == offers
    if offers:
        page.get_by_text("Options", exact=True).click()
        page.locator("#options").fill('{"rounding": 3}')
        assert "equal" in judge(page)[0]


def test_a_right_key_over_its_limit_is_told_so(open_page: OpenPage, guarded_url: str) -> None:
    page = open_page(url=guarded_url, allowed=(UNAUTHORIZED, "status of 429"))
    page.get_by_label("API key").fill("rv-wrong")
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("not one of the service's").wait_for()
    body = json.dumps({"error": {"type": "key_limit_reached", "message": "600 calls a minute"}})
    page.route("**/v1/*", lambda route: route.fulfill(status=429, body=body))
    page.get_by_label("API key").fill(KEY)
    page.get_by_role("button", name="Use this key").click()
    page.get_by_text("600 calls a minute").wait_for()
    assert page.get_by_text("not one of the service's").count() == 0


def test_the_state_counts_verdicts(open_page: OpenPage) -> None:
    page = open_page()
    example(page, "Hedging")
    page.get_by_role("tab", name="Status").click()
    rows = page.locator("#status tbody tr")
    rows.first.wait_for()
    assert any("ambiguous_answer" in row for row in rows.all_inner_texts())


def test_the_reference_of_the_api_stands_at_docs(open_page: OpenPage) -> None:
    page = open_page("/docs")
    page.locator("#api").get_by_text("/v1/score", exact=True).click()
    page.locator("#api").get_by_role("link", name="ScoreRequest").first.click()
    page.get_by_role("group", name="Fields of ScoreRequest").get_by_text("explain").wait_for()


def test_what_is_opened_stays_open_when_the_verifiers_come_late(open_page: OpenPage) -> None:
    page = open_page("/docs")
    held: list[Route] = []
    page.route("**/v1/verifiers", lambda route: held.append(route))
    page.reload()
    page.locator("#api").get_by_text("/v1/score", exact=True).click()
    held[0].continue_()
    page.locator("#examples button").first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    assert page.locator("#api details[open]").count() == 1


@pytest.mark.parametrize("language", ["curl", "Python", "TRL"])
def test_a_snippet_is_the_same_request(
    open_page: OpenPage, service_url: str, language: str
) -> None:
    page = open_page()
    tricky = 'It\'s \\boxed{"7"} $HOME `id` \U0001f600\nnull true'
    fill(page, "verifier:accuracy", '["7", "8"]', "\\boxed{7}", tricky, "9")
    judge(page)
    page.get_by_role("tab", name=language, exact=True).click()
    snippet = page.locator("#snippet").inner_text()
    command = ["bash", "-c", snippet] if language == "curl" else [sys.executable, "-c", snippet]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    assert told(language, done.stdout) == [1.0, 1.0, 0.0]


def told(language: str, printed: str) -> list[float]:
    """The scores that a snippet has printed."""
    if language == "curl":
        completions: list[dict[str, Any]] = json.loads(printed)["groups"][0]["completions"]
        return [one["verdicts"]["accuracy"]["score"] for one in completions]
    if language == "TRL":
        found: list[float] = json.loads(printed)
        return found
    return [float(line.split()[2]) for line in printed.splitlines()]


def test_a_key_opens_the_page_and_stays_in_its_tab(open_page: OpenPage, guarded_url: str) -> None:
    page = open_page(url=guarded_url, allowed=(UNAUTHORIZED,))
    field = page.get_by_label("API key")
    field.fill("rv-wrong")
    page.get_by_role("button", name="Use this key").click()
    page.locator("#key-note.alert", has_text="not one of the service's").wait_for()
    assert page.locator("#verifier option").count() == 0
    field.fill(KEY)
    page.get_by_role("button", name="Use this key").click()
    assert "equal" in example(page, "Units")[0]
    assert not field.is_visible()
    for language in ("curl", "Python", "TRL"):
        page.get_by_role("tab", name=language, exact=True).click()
        assert KEY not in page.locator("#snippet").inner_text()
    kept = page.evaluate("[JSON.stringify(localStorage), document.cookie, location.href].join()")
    assert KEY not in kept
    other = page.context.new_page()
    other.goto(guarded_url)
    other.get_by_label("API key").wait_for()


@pytest.mark.parametrize("viewport", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_breaks_a_rule_of_accessibility(
    open_page: OpenPage, axe: str, viewport: dict[str, int], scheme: str
) -> None:
    page = open_page(viewport=viewport, color_scheme=scheme, bypass_csp=True)
    example(page, "Input and output")
    page.evaluate(axe)
    for name in TABS:
        page.get_by_role("tab", name=name, exact=True).click()
        for entry in page.locator("[role=tabpanel]:not([hidden]) summary").all()[:3]:
            entry.click()
        found = page.evaluate("axe.run()")["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_the_field_for_the_key_breaks_no_rule(
    open_page: OpenPage, axe: str, guarded_url: str
) -> None:
    page = open_page(url=guarded_url, bypass_csp=True, allowed=(UNAUTHORIZED,))
    page.get_by_label("API key").wait_for()
    page.evaluate(axe)
    found = page.evaluate("axe.run()")["violations"]
    assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
