"""A real browser for tests."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.patience import PATIENCE

_NAMES = ("chromium", "chromium-browser", "google-chrome")


@contextmanager
def opened():
    """Chromium: that of the system, or Playwright's own; without one tests are skipped, but never
    where CI is set."""
    is_needed = "CI" in os.environ
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        if is_needed:
            raise
        pytest.skip("there is no Playwright; pip install 'thali[browser]' brings it")
    with sync_playwright() as started:
        own = next(filter(None, map(shutil.which, _NAMES)), None)
        if own is None and not Path(started.chromium.executable_path).exists() and not is_needed:
            pytest.skip(
                "there is no Chromium; apt install chromium, or playwright install chromium"
            )
        browser = started.chromium.launch(executable_path=own, timeout=1000.0 * PATIENCE)
        try:
            yield browser
        finally:
            browser.close()


def faults(page):
    """What axe finds wrong with a page."""
    from axe_core_python.sync_playwright import Axe

    return [
        (fault["id"], [node["html"][:200] for node in fault["nodes"][:3]])
        for fault in Axe().run(page)["violations"]
    ]


def watched(page):
    """What the page says, by its console, its errors and its dialogs, and what it asks for, from
    now on."""
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message) or dialog.dismiss())
    page.on(
        "request",
        lambda request: None if request.url.startswith("data:") else asked.append(request.url),
    )
    return said, asked
