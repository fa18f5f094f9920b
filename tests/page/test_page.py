"""The page of a sandbox in Chromium: what a user sees and does there, with the mouse and with the keyboard."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import dataaccess as da

HOSTILE = "<img src=x onerror=\"document.title='run'\">"
PARTS = ("requests", "rows", "faults", "exports")


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
        self.page.click(f"#tab-{name}")

    def text(self, selector: str) -> str:
        return str(self.page.inner_text(selector))

    def wait(self, selector: str, text: str) -> None:
        self.page.locator(selector, has_text=text).first.wait_for()


# Nothing of the browser's own may reach another host.
_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-sync"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
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


def test_the_page_asks_for_the_admin_token_and_takes_no_other(tab: Tab) -> None:
    tab.open(token=tab.sandbox.issue_token())
    assert "admin" in tab.text("#enter .problem")
    tab.page.fill("#token", tab.sandbox.admin_token)
    tab.page.press("#token", "Enter")
    tab.page.wait_for_selector("#opened:not([hidden])")
    assert tab.page.input_value("#token") == ""


def test_a_link_opens_the_page_and_leaves_no_token_in_the_address(tab: Tab) -> None:
    tab.open()
    assert tab.page.url == f"{tab.sandbox.base_url}/__sandbox/"
    tab.page.reload()
    tab.page.wait_for_selector("#opened:not([hidden])")


def test_requests_come_with_their_body_and_outcome(tab: Tab) -> None:
    tab.open()
    tab.wait("#request-rows", "No request has come yet.")
    client = tab.sandbox.client(retry_for=0)
    client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    tab.wait("#request-rows", "promotion_code: allocated_time equals 2024-01-15")
    with tab.sandbox.fault("status", status=500), pytest.raises(da.ServerError):
        client.download_segment(5637051)
    tab.wait("#request-rows tr", "export 5637051")
    first = tab.page.locator("#request-rows tr").first
    assert first.locator("td").first.inner_text() == "500"
    tab.page.click("#request-rows button >> nth=1")
    shown = tab.text("#request-rows pre")
    assert shown.startswith("POST /access/api/item/search\n")
    body = shown[shown.index("{") :]
    assert json.loads(body)["attrs"] == ["id"]
    assert "Bearer sbx_" not in shown
    tab.page.fill("#request-filter", "5637051")
    assert tab.text("#request-count").startswith("1 of 2")
    tab.page.click("#forget")
    tab.wait("#request-rows", "No request has come yet.")


def test_what_requests_and_rows_hold_is_text(tab: Tab) -> None:
    tab.sandbox.declare("store", 7, {"store_id": "string", "area": "number"})
    tab.sandbox.load("store", [{"store_id": HOSTILE, "area": 1}])
    client = tab.sandbox.client()
    client.search_items("store", ["store_id"], da.col("store_id").equals(HOSTILE), item_type_id=7)
    tab.open()
    tab.wait("#request-rows", json.dumps(HOSTILE))
    tab.page.click("#request-rows button >> nth=0")
    tab.go("rows")
    tab.page.wait_for_selector("#object option", state="attached")
    tab.page.select_option("#object", "store")
    tab.wait("#row-rows", HOSTILE)
    assert tab.page.locator("main img").count() == 0
    assert tab.page.title() == "Sandbox · dataaccess"


def test_faults_are_switched_on_counted_and_ended(tab: Tab) -> None:
    tab.open()
    tab.go("faults")
    tab.page.fill("#fault", '{"kind": "sattus"}')
    tab.page.click("#fault-form button")
    tab.wait("#problem", "sattus")
    # A refresh keeps what went wrong, and the focus.
    tab.page.wait_for_timeout(2_000)
    assert "sattus" in tab.text("#problem")
    tab.page.fill("#fault", '{"kind": "status", "status": 502, "body": "<h1>Bad gateway</h1>", "times": 1}')
    tab.page.click("#fault-form button")
    tab.wait("#fault-rows", "status=502")
    tab.page.focus("#fault-rows button")
    tab.page.wait_for_timeout(2_000)
    assert tab.page.evaluate("document.activeElement.innerText") == "End"
    rows = tab.sandbox.client().search_codes(["id"], allocated_time=da.on("2024-01-15"))
    assert rows
    tab.page.locator("#fault-rows td.number", has_text="1").wait_for()
    tab.page.click("#fault-rows button")
    tab.wait("#fault-rows", "No fault is on.")
    for name in tab.page.locator("#preset option").all_inner_texts():
        tab.page.select_option("#preset", name)
        tab.page.click("#preset-form button.main")
        tab.page.locator("#fault-rows button").first.wait_for()
        tab.page.click("#end-all")
        tab.wait("#fault-rows", "No fault is on.")


def test_the_clock_moves_an_export_through_its_stages(tab: Tab) -> None:
    tab.open()
    tab.go("exports")
    tab.page.fill("#export-of-rows", "77")
    tab.page.click("#export-form button")
    row = tab.page.locator("#export-rows tr", has_text="1000001")
    row.wait_for()
    assert "running" in row.inner_text()
    tab.page.click("[data-advance='3600']")
    tab.page.locator("#export-rows tr", has_text="1000001").filter(has_text="succeeded").wait_for()
    assert tab.sandbox.client().download_segment(1000001)["entries"][0]["exportedRows"] == 77


def test_all_parts_are_reached_by_the_keyboard(tab: Tab) -> None:
    tab.sandbox.client().download_segment(5637051)
    tab.open()
    tab.wait("#request-rows", "export 5637051")
    tab.page.focus("#tab-requests")
    for part in (*PARTS[1:], PARTS[0]):
        tab.page.keyboard.press("ArrowRight")
        assert tab.page.evaluate("document.activeElement.id") == f"tab-{part}"
        assert tab.page.locator(f"#{part}").is_visible()
    for _ in range(4):  # the filter, Clear, the region that scrolls, the first request
        tab.page.keyboard.press("Tab")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector("#request-rows pre")
    # A refresh keeps the focus.
    tab.page.wait_for_timeout(2_000)
    assert tab.page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"


def test_the_policy_of_the_page_lets_nothing_else_in(tab: Tab) -> None:
    response = tab.page.goto(f"{tab.sandbox.base_url}/__sandbox/")
    assert response is not None
    headers = response.headers
    policy = dict(each.strip().partition(" ")[::2] for each in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self'"
    assert policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in headers["content-security-policy"]
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    again = tab.page.goto(f"{tab.sandbox.base_url}/__sandbox/")
    assert again is not None
    assert again.headers["content-security-policy"] != headers["content-security-policy"], "a nonce is used once"
    tab.page.evaluate(
        "document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))"
    )
    assert tab.page.title() == "Sandbox · dataaccess"
