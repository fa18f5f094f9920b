"""The page of a sandbox in Chromium: a browser for all tests, a sandbox and a tab for each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from opened_page import Tab
from playwright.sync_api import Browser, sync_playwright

import dataaccess as da

# Nothing of the browser's own may reach another host.
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium of the system."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=_ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def sandbox() -> Iterator[da.Sandbox]:
    """A sandbox with the demo data of two fixed months."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


@pytest.fixture
def tab(browser: Browser, sandbox: da.Sandbox) -> Iterator[Tab]:
    """A tab of its own. No script failed in it, and it reached nothing but the sandbox."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(10_000)
    tab = Tab(context.new_page(), sandbox)
    yield tab
    context.close()
    assert tab.problems == []
    assert tab.hosts <= {sandbox.base_url.removeprefix("http://")}
