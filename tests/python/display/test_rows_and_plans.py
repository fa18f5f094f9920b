"""How scans, tables and batches look: as text and as HTML. Nothing is sent for it, and markup in data is escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from support.raw_server import always, serving
from support.streams import client_of, response_of, scan_of

import dataaccess as da
from dataaccess._client.segment import SegmentStatus
from dataaccess._display import html
from dataaccess._display.text import cell, cut, width_of

EVIL = "<script>alert(1)</script>"


class Page(HTMLParser):
    """The text of a page, and its tags, each of which has to be closed."""

    def __init__(self, html: str) -> None:
        """Reads the page."""
        super().__init__()
        self.tags: list[str] = []
        self.cells: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag: str, _attributes: Any) -> None:
        self.tags.append(tag)
        if tag != "br":
            self._open.append(tag)
        if tag in ("td", "th", "li", "div"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, text: str) -> None:
        if self._open[-1:] != ["style"] and self.cells:
            self.cells[-1] += text


@pytest.fixture
def scan(sandbox: da.Sandbox) -> da.Scan:
    days = da.days("2024-01-01", "2024-01-04")
    return sandbox.client().scan_codes(["id", "pool_id"], allocated_time=days, code_status="used")


def test_a_scan_shows_its_plan_and_sends_nothing(sandbox: da.Sandbox, scan: da.Scan) -> None:
    sandbox.clear_requests()
    page = Page(scan._repr_html_())
    assert page.cells[1] == "promotion_code (-100) 3 requests, days and times in UTC; nothing was sent"
    facts = dict(zip(page.cells[2::2], page.cells[3::2], strict=True))
    assert facts["service filters"] == (
        "code_status matches USED (4)allocated_time equals DAY of 2024-01-01 … 2024-01-03, one per request"
    )
    assert facts["columns"] == "id stringpool_id int64"
    assert facts["not done"]
    assert "limit" not in facts["not done"]
    assert str(scan) == scan.explain()
    assert sandbox.requests == []


def test_a_limit_and_a_task_are_shown(sandbox: da.Sandbox, scan: da.Scan) -> None:
    limited = sandbox.client().scan_codes(["id"], allocated_time=da.on("2024-01-15"), limit=5)
    cells = Page(limited._repr_html_()).cells
    assert "client cuts" in cells
    assert "limit" in cells[cells.index("not done") + 1]
    assert Page(scan.tasks()[0]._repr_html_()).cells[1].startswith("promotion_code (-100) 1 request,")


def test_names_of_a_plan_are_escaped(sandbox: da.Sandbox) -> None:
    where = da.col(EVIL).matches([EVIL])
    scan = sandbox.client(item_types={EVIL: 7}).scan_items(EVIL, [EVIL], where)
    html = scan._repr_html_()
    assert html.count("&lt;script&gt;") == 4
    assert "script" not in Page(html).tags


def test_a_table_shows_its_head_types_and_figures(scan: da.Scan) -> None:
    table = scan.collect()
    page = Page(table._repr_html_())
    assert page.cells[1:3] == ["idstring", "pool_idint64"]
    assert page.tags.count("tr") == 11
    assert re.fullmatch(r"… \d+ more rows: \d+ rows, 2 columns; [\d.]+ kB in [\d.]+ s, 3 requests", page.cells[-1])
    lines = str(table).splitlines()
    assert lines[:3] == ["id               pool_id", "string             int64", "---------------  -------"]
    assert lines[-1] == page.cells[-1].partition(": ")[2]
    assert repr(table) == f"Table({len(table)} rows, 2 columns: id, pool_id)"


def test_rows_that_are_not_all_of_the_scan_have_no_figures(scan: da.Scan) -> None:
    assert str(scan.collect().head(2)).splitlines()[-1] == "2 rows, 2 columns"
    batch = next(scan.batches(max_rows=3))
    assert str(batch).splitlines()[-1] == "3 rows, 2 columns"
    assert Page(batch._repr_html_()).cells[-1] == "3 rows, 2 columns"


def test_cells_are_escaped_and_cut() -> None:
    long = "x" * 2_000
    records: list[dict[str, Any]] = [
        {"n": None, "text": EVIL},
        {"n": 1, "text": long},
        {"n": 2, "text": f'{EVIL}" onload="'},
    ]
    with serving(always(response_of(records))) as server:
        table = scan_of(client_of(server)).collect()
    page = Page(table._repr_html_())
    assert "script" not in page.tags
    assert page.cells[3:5] == ["null", EVIL]
    assert page.cells[6] == "x" * 59 + "…"
    assert 'onload="' not in table._repr_html_()
    assert len(table._repr_html_()) < 6_000
    assert max(map(len, str(table).splitlines())) < 50


def test_wide_tables_are_cut_too() -> None:
    record = {f"c{number}": number for number in range(30)}
    with serving(always(response_of([record]))) as server:
        table = client_of(server).scan_items("customer", list(record)).collect()
    assert Page(table._repr_html_()).cells[-1].startswith("… 18 more columns: 1 row, 30 columns")
    assert str(table).splitlines()[-2] == "… 18 more columns"


def test_an_empty_table_shows_its_columns(sandbox: da.Sandbox) -> None:
    table = sandbox.client().scan_codes(["id"], allocated_time=da.on("1990-01-01")).collect()
    assert Page(table._repr_html_()).cells[1] == "idstring"
    assert str(table).splitlines()[-1].startswith("0 rows, 1 column")


def test_no_display_shows_the_token(sandbox: da.Sandbox) -> None:
    token = sandbox.issue_token()
    client = da.Client(sandbox.base_url, token=token)
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    table = scan.collect()
    refused = None
    try:
        client.scan_codes(["id"], allocated_time=da.on("2024-13-15"))
    except da.ValidationError as error:
        refused = error
    assert refused is not None
    with sandbox.fault("status", status=400), pytest.raises(da.DataAccessError) as caught:
        scan.collect()
    shown = [scan, scan.tasks()[0], table, client.download_segment(5637051)]
    for each in [*shown, refused, caught.value]:
        html = each._repr_html_() if each in shown else ""  # type: ignore[attr-defined] # a status is a dict for type checkers
        for text in (html, str(each), repr(each)):
            assert token not in text
            assert token[:8] not in text


def test_a_cell_is_cut_before_it_is_escaped() -> None:
    long = {
        "escaped": "\x1b" * 2_000_000,
        "wide": "日" * 2_000_000,
        "marks": "a" + "\u0301" * 2_000_000,
        "nested": [{"a": "\x1b" * 2_000_000}] * 100_000,
    }
    for name, value in long.items():
        for width in (32, 1_000):
            shown = cell(value, width)
            assert shown.endswith("…"), name
            assert width - 2 <= width_of(shown) <= width or name == "marks"
            assert len(shown) <= 4 * width + 1, name
    table = html.table(list(long), [], [list(long.values())])
    assert len(table) < 20_000


def test_what_is_cut_of_a_cell_is_what_does_not_fit() -> None:
    assert cell("x" * 32) == "x" * 32
    assert cell("x" * 33) == "x" * 31 + "…"
    assert cell("e\u0301" * 32) == "e\u0301" * 32
    assert cell("日" * 17) == "日" * 15 + "…"
    assert cell([{"a": 1, "b": None}, "x", True]) == "[{'a': 1, 'b': None}, 'x', True]"
    assert [cut("xyz", width) for width in (3, 2, 1)] == ["xyz", "x…", "…"]


def test_a_status_is_a_dict_to_the_eye_and_short() -> None:
    entry = {"exportStatus": 1, "exportedRows": 5, "startTime": "2024-01-15T10:00:00Z", "durations": {"all": 1.5}}
    status = SegmentStatus({"code": 200, "data": {"entries": [entry] * 2, "meta": {"total": 2}}}, 1, ("200",))
    assert repr(status) == repr(dict(status))
    entry["startTime"] = "\x1b" * 2_000_000
    many = SegmentStatus({"data": {"entries": [entry] * 20}}, 1, ("200",))
    assert len(repr(many)) < 30_000
    assert len(str(many)) < 10_000
    assert len(many._repr_html_()) < 200_000
    assert "\x1b" not in repr(many) + str(many) + many._repr_html_()
