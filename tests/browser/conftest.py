"""A real Chromium on the page of a real service; run by `make test-browser`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trainer_client.service_process import running_service
from verifier_service.http.api_keys import hash_of, new_key

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAMES = ("chromium", "chromium-browser", "google-chrome")
KEY = new_key()
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
OpenPage = Callable[..., "Page"]


def chromium() -> str:
    """The path of the machine's browser; skips where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no Chromium: on Debian and Ubuntu, apt install chromium")
    return found


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    driver = pytest.importorskip("playwright.sync_api", reason="make test-browser installs it")
    path = chromium()
    with driver.sync_playwright() as playwright:
        # Chromium refuses to sandbox itself for root; it shows our own page only.
        sandbox = [] if os.getuid() else ["--no-sandbox"]
        found = playwright.chromium.launch(executable_path=path, args=sandbox)
        yield found
        found.close()


@pytest.fixture(scope="session")
def guarded_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a service with one key, `KEY`."""
    log = tmp_path_factory.mktemp("guarded") / "service.log"
    flags = ("--workers", "1", "--enabled", "accuracy,format", "--api-key-hashes", hash_of(KEY))
    with running_service(log, *flags) as url:
        yield url


@pytest.fixture
def open_page(browser: Browser, service_url: str) -> Iterator[OpenPage]:
    """Opens pages. At the end each must have asked its own service only, without an error."""
    contexts, troubles = [], []

    def opened(
        path: str = "/", *, url: str = service_url, allowed: tuple[str, ...] = (), **options: Any
    ) -> Page:
        context = browser.new_context(viewport=options.pop("viewport", WIDE), **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)

        def report(text: str) -> None:
            if not any(one in text for one in allowed):
                troubles.append(text)

        page.on("pageerror", lambda error: report(str(error)))
        page.on("console", lambda line: report(line.text) if line.type == "error" else None)
        page.on(
            "request",
            lambda sent: None if sent.url.startswith((url, "data:")) else report(sent.url),
        )
        page.goto(url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert troubles == []


@pytest.fixture(scope="session")
def axe() -> str:
    """The source of axe-core, which npm has put into the environment of these tests."""
    prefix = Path(os.environ.get("BROWSER_TOOLS", ".venv-browser"))
    source = prefix / "node_modules" / "axe-core" / "axe.min.js"
    if not source.exists():
        pytest.skip("no axe-core: make test-browser installs it where npm is")
    return source.read_text()
