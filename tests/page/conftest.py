"""The page of a sandbox in Chromium: a browser for all tests, a sandbox and a tab for each."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

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


class Tab:
    """A tab that has opened the page of a sandbox, and what went wrong in it."""

    def __init__(self, page: Page, sandbox: da.Sandbox) -> None:
        self.page, self.sandbox = page, sandbox
        self.problems: list[str] = []
        self.hosts: set[str] = set()
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("dialog", lambda dialog: dialog.accept())
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))

    def open(self, *, token: str | None = None) -> None:
        """Opens the page by a link with the admin token."""
        self.page.goto(f"{self.sandbox.base_url}/__sandbox/#token={token or self.sandbox.admin_token}")
        self.page.wait_for_selector("#opened:not([hidden])" if token is None else "#enter .problem:not(:empty)")

    def go(self, name: str) -> None:
        """Shows a part."""
        self.page.click(f"#tab-{name}")

    def text(self, selector: str) -> str:
        """The text of an element."""
        return self.page.inner_text(selector)

    def wait(self, selector: str, text: str) -> None:
        """Waits until an element has this text in it."""
        self.page.locator(selector, has_text=text).first.wait_for()


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
