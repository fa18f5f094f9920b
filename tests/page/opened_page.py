"""A tab that has opened the page of a sandbox."""

from __future__ import annotations

from playwright.sync_api import Page

import dataaccess as da


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
        return str(self.page.inner_text(selector))

    def wait(self, selector: str, text: str) -> None:
        """Waits until an element has this text in it."""
        self.page.locator(selector, has_text=text).first.wait_for()
