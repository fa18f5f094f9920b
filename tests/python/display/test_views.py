"""What `print` and notebooks show: markup is escaped, no token is shown, long values are cut, nothing is sent."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from support.raw_server import ENTRY, always, http, serving
from support.streams import client_of, response_of, scan_of

import dataaccess as da
from dataaccess._client.segment import SegmentStatus
from dataaccess._display import html
from dataaccess._display.text import cell, cut, width_of

EVIL = "<script>alert(1)</script>"
TOKEN = "hunter2-token"
DAYS = da.days("2024-01-01", "2024-01-04")


def tags(page: str) -> list[str]:
    """The tags of a page, each of which has to be closed."""
    return [each.tag for each in ElementTree.fromstring(f"<div>{page.replace('<br>', '<br/>')}</div>").iter()]


def shown(value: Any) -> str:
    """A value as text and as a page, whose markup is checked."""
    page = value._repr_html_() if hasattr(value, "_repr_html_") else ""
    assert "script" not in tags(page)
    assert 'onload="' not in page
    return f"{value}\n{value!r}\n{page}"


def test_markup_of_names_and_values_is_escaped() -> None:
    # The whole of what is cut is in a tooltip.
    texts = [EVIL, f'{EVIL}" onload="', f'{"x" * 60}" onload="']
    records: list[dict[str, Any]] = [{"n": None, "text": text} for text in texts] + [{"n": 1, "text": EVIL}]
    entries = {"entries": [{**ENTRY, "responseMessage": EVIL, "startTime": EVIL}], "meta": {"total": 1}}
    status = http({"code": 200, "message": EVIL, "data": entries})
    calls: list[tuple[bytes, Callable[[Any], Any]]] = [
        (response_of(records), lambda client: scan_of(client).collect()),
        (response_of([{EVIL: EVIL}]), lambda client: scan_of(client, [EVIL]).collect()),
        (response_of([]), lambda client: client.scan_items(EVIL, [EVIL], da.col(EVIL).matches([EVIL]), item_type_id=7)),
        (status, lambda client: client.download_segment(7)),
        (response_of([]), lambda client: client.with_options(headers={"X-Team": EVIL}).settings),
    ]
    for response, call in calls:
        with serving(always(response)) as server:
            assert "&lt;script&gt;" in shown(call(client_of(server)))


def test_no_display_shows_the_token_or_sends_a_request(sandbox: da.Sandbox) -> None:
    token = sandbox.issue_token()
    headers = {"X-Api-Key": TOKEN}
    client = da.Client(sandbox.base_url, token=token, headers=headers)
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    errors: list[Any] = []
    with pytest.raises(da.ValidationError) as refused:
        client.scan_codes(["id"], allocated_time=da.on("2024-13-15"))
    with sandbox.fault("status", status=400), pytest.raises(da.DataAccessError) as caught:
        scan.collect()
    errors += [refused.value, caught.value, da.AsyncClient(sandbox.base_url, token=token, headers=headers)]
    results = [scan.collect(), next(scan.batches()), client.download_segment(5637051), client.check(), scan.last_stats]
    sandbox.clear_requests()
    for each in [*errors, *results, client, client.settings, client.stats, scan, scan.tasks()[0]]:
        assert not re.search(f"{token[:8]}|{TOKEN}", shown(each))
    assert sandbox.requests == []
    closed = da.Client("https://cdp.example.com", token=TOKEN)
    closed.close()
    assert "closed" in shown(closed)
    assert "synthetic" in shown(client)


def test_long_values_and_wide_tables_are_cut() -> None:
    record = {f"c{number}": "x" * 2_000 for number in range(30)}
    with serving(always(response_of([record]))) as server:
        text = shown(client_of(server).scan_items("customer", list(record)).collect())
    assert len(text) < 20_000
    long = {
        "escaped": "\x1b" * 2_000_000,
        "wide": "日" * 2_000_000,
        "marks": "a" + "\u0301" * 2_000_000,
        "nested": [{"a": "\x1b" * 2_000_000}] * 100_000,
    }
    for name, value in long.items():
        for width in (32, 1_000):
            part = cell(value, width)
            assert part.endswith("…"), name
            assert width - 2 <= width_of(part) <= width or name == "marks"
            assert len(part) <= 4 * width + 1, name
    assert len(html.table(list(long), [], [list(long.values())])) < 20_000
    assert cell("x" * 32) == "x" * 32
    assert cell("x" * 33) == "x" * 31 + "…"
    assert cell("日" * 17) == "日" * 15 + "…"
    assert [cut("xyz", width) for width in (3, 2, 1)] == ["xyz", "x…", "…"]


def test_a_table_says_how_many_rows_it_has_and_shows_some(sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = sandbox.client().scan_codes(["id", "pool_id"], allocated_time=DAYS)
    table = scan.collect()
    assert repr(table) == f"Table({len(table)} rows, 2 columns: id, pool_id)"
    assert f"{len(table)} rows, 2 columns" in str(table).splitlines()[-1]
    assert tags(table._repr_html_()).count("tr") == 11
    # Rows that are not all of the scan have no figures of its requests.
    assert str(table.head(2)).endswith("\n2 rows, 2 columns")
    scan.to_folder(tmp_path / "codes")
    assert "from 3 files" in shown(scan.read_folder(tmp_path / "codes"))
    empty = sandbox.client().scan_codes(["id"], allocated_time=da.on("1990-01-01")).collect()
    assert "0 rows, 1 column" in str(empty)


@pytest.mark.parametrize(
    ("condition", "attrs", "is_shown"),
    [
        (DAYS, ["id"], True),
        (da.on("2024-01-15"), ["id"], True),
        (da.on("2024-01-15"), ["id", "allocated_time"], False),
        (da.on("2024-01-15"), None, False),
        (da.since("2024-01-15"), ["id"], False),
    ],
)
def test_a_plan_says_that_days_are_not_checked(sandbox: da.Sandbox, condition: Any, attrs: Any, is_shown: bool) -> None:
    scan = sandbox.client().scan_codes(attrs, allocated_time=condition)
    assert ("not checked" in scan.explain()) == ("not checked" in scan._repr_html_()) == is_shown
    assert str(scan) == scan.explain()


def test_a_status_is_a_dict_and_shows_each_entry() -> None:
    entry = {**ENTRY, "exportedRows": 1_234, "startTime": "2024-01-15T08:00:00.000Z"}
    ended = {**entry, "endTime": "2024-01-15T08:05:02.500Z", "responseCode": 200}
    odd = {**ended, "startTime": "soon", "endTime": "later", "responseCode": 500, "exportedRows": None}
    status = SegmentStatus({"code": 200, "data": {"entries": [entry, ended, odd]}}, 7, ("200",))
    plain = dict(status)
    assert repr(status) == repr(plain)
    assert json.loads(json.dumps(status)) == plain
    assert type(pickle.loads(pickle.dumps(status))) is dict
    states = [line.split()[1] for line in str(status).splitlines()[3:]]
    assert states == ["running", "finished", "failed"]
    assert "1,234" in shown(status)
    assert "5 min 2 s" in shown(status)
    assert "no entries" in shown(SegmentStatus({"data": {"entries": []}}, 7, ("200",)))
    entry["startTime"] = "\x1b" * 2_000_000
    many = SegmentStatus({"data": {"entries": [entry] * 20}}, 1, ("200",))
    assert len(shown(many)) < 250_000
    assert "\x1b" not in shown(many)


def test_a_report_shows_states_retries_and_doubts(tmp_path: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"day_zone": "Asia/Ho_Chi_Minh"}) as sandbox:
        client = sandbox.client()
        client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04")).to_folder(tmp_path / "a")
        longer = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-06"))
        with sandbox.fault("status", status=503, times=1):
            report = longer.to_folder(tmp_path / "a")
        checked = client.scan_codes(["id", "allocated_time"], allocated_time=da.days("2024-01-01", "2024-01-03"))
        with pytest.warns(da.StrayDayWarning):
            doubtful = checked.to_folder(tmp_path / "b")
    for part in (f"{report.rows} rows in 5 files: 2 new, 3 kept", "3 requests", "1 retry", str(tmp_path)):
        assert part in str(report)
    assert ">2 new<" in shown(report)
    assert "doubtful: " in str(doubtful)
    assert 'class="doubt' in shown(doubtful)
