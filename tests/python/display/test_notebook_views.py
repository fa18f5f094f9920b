"""What a notebook shows of plans, files, exports and checks; and what it says of `with` and `for` without `async`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from support.parts import in_parts
from support.raw_server import ENTRY, always, http, serving

import dataaccess as da

DAYS = da.days("2024-01-01", "2024-01-04")


@pytest.mark.parametrize(
    ("condition", "attrs", "times"),
    [
        (DAYS, ["id"], 1),
        (da.on("2024-01-15"), ["id"], 1),
        (da.on("2024-01-15"), ["id", "allocated_time"], 0),
        (da.on("2024-01-15"), None, 0),
        (da.since("2024-01-15"), ["id"], 0),
    ],
)
def test_a_plan_says_that_days_are_not_checked(sandbox: da.Sandbox, condition: Any, attrs: Any, times: int) -> None:
    scan = sandbox.client().scan_codes(attrs, allocated_time=condition)
    assert len(re.findall("^not checked: .* allocated_time ", scan.explain(), re.MULTILINE)) == times
    assert len(re.findall(">not checked</th>.*?>[^<]* allocated_time ", scan._repr_html_())) == times


def test_so_does_the_plan_of_items(sandbox: da.Sandbox) -> None:
    where = da.col("date_created").on("2024-01-15") & da.col("city").equals("x")
    client = sandbox.client(item_types={"store": 7})
    plan = client.scan_items("store", ["city"], where).explain()
    assert re.search("^not checked: .* date_created ", plan, re.MULTILINE)
    assert "not checked" not in client.scan_items("store", ["date_created"], where).explain()
    either = where | da.col("city").equals("y")
    assert "not checked" not in client.scan_items("store", ["city"], either).explain()


@pytest.mark.parametrize(
    ("condition", "shown"),
    [(da.on("2024-01-15"), "a, b … e, in 3 requests\n"), (DAYS, "a, b … e, in 3 requests a day\n")],
)
def test_a_plan_counts_the_requests_of_a_list(sandbox: da.Sandbox, condition: Any, shown: str) -> None:
    scan = in_parts(2, sandbox.client().scan_codes, allocated_time=condition, allocated_audience=[*"abcde"])
    assert f"allocated_audience matches {shown}" in scan.explain()
    one_each = in_parts(1, sandbox.client().scan_codes, allocated_time=condition, allocated_audience=[*"abcde"])
    assert "allocated_audience matches a … e, one per request" in one_each.explain()


@pytest.mark.both_clients
def test_a_table_of_files_says_so(connect: Any, sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = connect(sandbox).scan_codes(allocated_time=DAYS)
    scan.to_folder(tmp_path / "codes")
    table = scan.read_folder(tmp_path / "codes")
    assert str(table).endswith("\n206 rows, 10 columns; from 3 files")
    assert "10 columns; from 3 files" in table._repr_html_()
    assert "from 3 files" in str(table[["id"]])
    assert str(scan.collect()).endswith(" s, 3 requests")


def test_a_check_is_shown_with_what_is_wrong(sandbox: da.Sandbox) -> None:
    page = sandbox.client().check("2024-01-15")._repr_html_()
    assert '<span class="title">Check of a client</span> <span class="dim">ok</span>' in page
    assert '<span class="bad wide">' not in page
    assert re.search('<span class="good wide">"UTC": [^<]* 73 [^<]* 2024-01-15 ', page.replace("&quot;", '"'))
    unknown = sandbox.client().check()._repr_html_()
    assert re.search(r'<span class="doubt wide">[^<]* name a day [^<]*</span>', unknown)
    refused = da.Client(sandbox.base_url, token="<b>wrong</b>").check()._repr_html_()
    assert ">not ok<" in refused
    assert refused.count('<span class="bad wide">') >= 3
    assert "<b>" not in refused


def test_a_running_export_shows_dashes_and_its_id() -> None:
    with da.Sandbox() as sandbox:
        number = sandbox.start_export(rows=5, seconds=60)
        status: Any = sandbox.client().download_segment(number)
        page = status._repr_html_()
        assert f'<span class="title">Segment export {number}</span>' in page
        assert page.count("<td>–</td>") + page.count('<td class="number">–</td>') == 3  # noqa: RUF001 - a dash
        assert "null" not in page
        (line,) = str(status).splitlines()[3:]
        assert line.count("–") == 3  # noqa: RUF001 - likewise
        assert "." not in line
        updates: list[Any] = []
        with pytest.raises(da.WaitTimeoutError) as caught:
            sandbox.client().wait_for_segment(number, timeout=0.2, poll=0.05, on_update=updates.append)
        last: Any = caught.value.last
        for shown in (last, updates[0]):
            assert f"Segment export {number}" in shown._repr_html_()


@pytest.mark.parametrize("code", [500, "E17", 0])
def test_an_entry_that_failed_ends_the_wait_at_once(connect: Any, code: Any) -> None:
    running = {**ENTRY, "endTime": None, "responseCode": None}
    failed = {**running, "endTime": "2024-01-15T08:05:00.000Z", "responseCode": code}
    body = {"code": 200, "message": "Success", "data": {"entries": [running, failed], "meta": {"total": 2}}}
    with serving(always(http(body))) as server:
        client = connect(server.base_url)
        with pytest.raises(da.SegmentExportError, match=rf"\b1 of 2 .*\b7\b.*\b2 .* {code!r};") as caught:
            client.wait_for_segment(7, timeout=3_600, poll=3_600)
        assert (caught.value.exit_code, len(caught.value.entries), len(server.requests)) == (69, 2, 1)
        # Without the check all entries are waited for.
        with pytest.raises(da.WaitTimeoutError, match=r"\btimeout$") as timed_out:
            client.wait_for_segment(7, timeout=0.1, poll=0.05, check=False)
        assert timed_out.value.retryable is True
        assert timed_out.value.last
        assert [entry["responseCode"] for entry in timed_out.value.last["entries"]] == [None, code]
