"""A scan in hand: what it asks for and says of itself, how it travels, its rows, and what it warns of."""

from __future__ import annotations

import asyncio
import random
import re
import sys
import threading
import time
import warnings
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from support.raw_server import always, http, serving
from support.scan_requests import SILENCE, ok_response, scan_of_parts, scan_server, uses_of, wait_until
from support.streams import client_of, in_parts, response_of, scan_of, whole

import dataaccess as da

DAY = da.on("2024-01-15")


def test_a_scan_sends_what_it_shows_when_it_is_used_and_not_before(connect: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        client = connect(service)
        scan = client.scan_codes(["id"], allocated_time=DAY, code_status="used", limit=3)
        body = client.validate_codes(["id"], allocated_time=DAY, code_status="used")
        url = f"{service.base_url}/access/api/item/search"
        assert scan.requests() == [{"method": "POST", "url": url, "body": body}]
        assert repr(scan).startswith("Scan(scan_codes of id; ")
        where = da.col("customer_id").matches(["a"]) | da.col("name").equals("b")
        named = client.with_options(attrs_format="string")
        (request,) = named.scan_items("customer", ["customer_id"], where).requests()
        assert request["body"] == named.validate_items("customer", ["customer_id"], where)
        assert service.requests == []
        # Arguments are those of the start, and may be any iterable.
        statuses = ["used"]
        for given in (statuses, np.array([4])):
            scan = client.scan_codes((name for name in ["id", "code_status"]), allocated_time=DAY, code_status=given)
            statuses.append("sent")
            service.clear_requests()
            first = scan.to_dicts()
            assert {row["code_status"] for row in first} == {4}
            assert first == scan.to_dicts() == scan.collect().to_pylist()
            assert [sent.body for sent in service.requests] == [scan.requests()[0]["body"]] * 3


def test_a_plan_shows_requests_conditions_columns_and_what_the_client_does(connect: Any, sandbox: da.Sandbox) -> None:
    client = connect(sandbox, timezone="Europe/Berlin")
    sent = len(sandbox.requests)
    codes = client.scan_codes(
        ["id", "pool_id", "code_status"],
        allocated_time=da.days("2024-01-01", "2024-04-01"),
        code_status=["used", da.CodeStatus.SENT],
        limit=2,
        schema={"id": "json", "pool_id": "double"},
        decode_status=True,
    )
    parts = ["91 requests", "USED (4), SENT (3)", "2024-01-01 … 2024-03-31", "pool_id float64", "2 rows", "day"]
    assert [part for line, part in zip(codes.explain().splitlines(), parts, strict=True) if part not in line] == []
    since = client.scan_codes(["last_used_time"], allocated_time=da.since("2024-07-01")).explain()
    assert "allocated_time after_date DAY of 2024-06-30 23:59:59.999 (since 2024-07-01)\n" in since
    where = da.col("customer_id").matches([f"c-{n}" for n in range(2_500)]) & da.col("name\x1b[2J").equals("x\n")
    items = client.scan_items("customer", "name", where).explain()
    assert items.startswith("customer (-1003) in 3 requests\n")
    assert "customer_id matches c-0, c-1, c-2, c-3, c-4 and 985 more … c-1980, " in items
    assert "\x1b" not in items
    assert len(sandbox.requests) == sent


@pytest.mark.parametrize("data", [{}, None, {"data": None}, {"data": {}}, []])
def test_the_shape_of_an_empty_response_is_reported(connect: Any, data: Any) -> None:
    with serving(always(http({"code": 200, "message": "ok", "data": data}))) as server:
        scan = scan_of(connect(server.base_url))
        assert scan.collect().num_rows == 0
        assert scan.last_stats.empty_shape.startswith("data")


NO_TEXT: list[dict[str, Any]] = [{"n": 1}, {"n": 2}]
ONE_TEXT, BOTH = [*NO_TEXT[:1], {"n": 2, "text": "a"}], [{"n": 1, "text": "a"}] * 2
ABSENT, INCOMPLETE = (da.AbsentAttributeWarning, "'text'"), (da.IncompleteWarning, r"\b5 .*\b2\b")
# Records, a total, a limit, and the warning.
WARNINGS: dict[str, tuple[list[dict[str, Any]], int | None, int | None, tuple[type[Warning], str] | None]] = {
    "an attribute that no row has": (NO_TEXT, None, None, ABSENT),
    "no row has it and none was cut": (NO_TEXT, None, 3, ABSENT),
    "an attribute that is null": ([{"n": 1, "text": None}], None, None, None),
    "no rows": ([], None, None, None),
    "an attribute that a row has": (ONE_TEXT, None, None, None),
    "the row that has it was cut": (ONE_TEXT, None, 1, None),
    "another total": (BOTH, 5, None, INCOMPLETE),
    "the total": (BOTH, 2, None, None),
}


@pytest.mark.both_clients
@pytest.mark.parametrize("name", WARNINGS)
def test_what_a_response_shows_is_warned_of_in_every_use(connect: Any, name: str) -> None:
    records, total, limit, warning = WARNINGS[name]
    with serving(always(response_of(records, **({"meta": {"total": total}} if total else {})))) as server:
        client = connect(server.base_url)
        scan = scan_of(client, limit=limit)
        search = partial(client.search_items, "store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
        for use in (*uses_of(scan), partial(search, limit=limit), *([scan.head] if warning is ABSENT else [])):
            with warnings.catch_warnings(record=True, action="always") as caught:
                use()
            assert [each.category for each in caught] == ([warning[0]] if warning else [])
            if warning:
                assert re.search(warning[1], str(caught[0].message))
                # The line of the caller.
                assert caught[0].filename in {__file__, uses_of.__code__.co_filename} or hasattr(scan, "client")
            assert isinstance(use, partial) or scan.last_stats.absent == (["text"] if warning is ABSENT else [])
        # A head that cuts rows shows nothing.
        assert scan.head(1).stats.absent == []


@pytest.mark.both_clients
def test_using_a_closed_client_is_refused(connect: Any, sandbox: da.Sandbox) -> None:
    client = connect(sandbox)
    scan = client.scan_codes(["id"], allocated_time=DAY)
    client.close()
    for use in uses_of(scan):
        with pytest.raises(da.ClientClosedError):
            use()


def test_rows_of_an_asynchronous_scan_are_made_outside_of_the_event_loop(sandbox: da.Sandbox) -> None:
    made: list[str] = []

    def note(frame: Any, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "to_pylist":
            made.append(threading.current_thread().name)

    async def main() -> int:
        scan = sandbox.async_client().scan_codes(allocated_time=DAY)
        return len([row async for row in scan.iter_rows()])

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        assert asyncio.run(main()) == 73
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    assert made
    assert threading.main_thread().name not in made


def test_rows_are_counted_with_one_attribute(client: Any, sandbox: da.Sandbox) -> None:
    days = da.days("2024-01-14", "2024-01-17")

    def attrs_of(scan: Any, rows: int) -> list[Any]:
        sandbox.clear_requests()
        assert scan.count() == rows
        return [request.body["attrs"] for request in sandbox.requests]

    whole = client.scan_codes(allocated_time=days)
    assert attrs_of(whole, 215) == [["allocated_time"]] * 3
    assert attrs_of(client.scan_codes(allocated_time=days, limit=100), 100) == [["allocated_time"]] * 2
    assert [task.count() for task in whole.tasks()] == [72, 73, 70]
    used = client.scan_codes(["id", "name"], allocated_time=DAY, code_status="used")
    assert attrs_of(used, len(used.to_dicts())) == [["id"]]
    assert client.scan_codes(allocated_time=days, on_suspected_cap="split").count() == 215
    customers = client.scan_items("customer", ["name", "customer_id"])
    assert customers.count() == len(customers.to_dicts()) > 0


def test_values_that_fit_no_type_are_counted_and_rows_of_other_days_are_warned_of(connect: Any) -> None:
    with serving(always(response_of([{"a": value} for value in (1, "x", None, {"b": [1]}, 2.5)]))) as server:
        assert scan_of(connect(server.base_url), ["a"], schema={"a": "int64"}).count() == 5
    with serving(always(response_of([{"allocated_time": "2024-03-01 10:00:00"}]))) as server:
        scan = connect(server.base_url).scan_codes(allocated_time=DAY)
        with pytest.warns(da.StrayDayWarning):
            scan.count()


# Rows with keys that were not requested are those of Python's `json`, key for key.

VALUES: list[Any] = [None, True, 0, 7, -1003, 2**40, 1.5, "", "x", 'a "quoted" \\ text', "ü", "y" * 40, [1, {"a": 2}]]


def test_rows_are_those_of_json_in_the_same_order() -> None:
    source = random.Random(15)
    records: list[dict[str, Any]] = []
    for number in range(900):
        # The same keys in a few records, one of them in no other.
        names = source.sample(["a", "b", f"key {number}", *(f"extra_{n}" for n in range(6))], source.randrange(9))
        records += [{name: source.choice(VALUES) for name in names} for _ in range(source.randrange(1, 4))]
    # First the requested attributes, then the others in the order of the record.
    expected = [{"a": each.get("a"), "b": each.get("b")} | each for each in records]
    with serving(always(response_of(records))) as server:
        assert list(map(repr, scan_of(client_of(server), ["a", "b"]).to_dicts())) == list(map(repr, expected))
    # A key that occurs twice has its last value.
    body = b'{"code":200,"data":{"status":true,"data":[{"z":1,"a":1,"z":"last","a":2}]}}'
    with serving(always(http(body))) as server:
        assert scan_of(client_of(server), ["a"]).to_dicts() == [{"a": 2, "z": "last"}]


READINGS = ["collect", "to_arrow", "to_pandas", "to_polars", "to_dicts", "to_parquet", "to_csv", "to_jsonl"]


def read(scan: Any, reading: str, folder: Path, report: Any) -> None:
    """Takes the rows in one way."""
    target = [folder / "x"] if reading in {"to_parquet", "to_csv", "to_jsonl"} else []
    getattr(scan, reading)(*target, progress=report)


@pytest.mark.both_clients
@pytest.mark.parametrize("reading", READINGS)
def test_progress_is_reported_from_the_first_request_to_the_last(client: Any, tmp_path: Path, reading: str) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17"))
    reports: list[da.Progress] = []
    read(scan, reading, tmp_path, reports.append)
    first, *_, last = reports
    assert (first.total, first.done, first.failed, first.rows, first.bytes) == (3, 0, 0, 0, 0)
    assert (last.total, last.done, last.failed, last.rows) == (3, 3, 0, 215)
    assert last.bytes == scan.last_stats.bytes
    assert [report.done for report in reports] == sorted(report.done for report in reports)
    assert {report.done for report in reports} == {0, 1, 2, 3}


def test_rows_of_one_response_are_reported_as_they_arrive(connect: Any, tmp_path: Path) -> None:
    reports: list[da.Progress] = []

    def pause(number: int) -> None:
        # The last part of the response waits until the first batch was reported.
        while number == 11 and not any(report.rows for report in reports):
            time.sleep(0.01)

    with serving(in_parts(whole(100_000, 10_000), pause)) as server:
        scan_of(connect(server.base_url)).to_parquet(tmp_path / "n.parquet", progress=reports.append)
    assert reports[0].rows == 0
    assert any(0 < report.rows < 100_000 for report in reports)
    assert (reports[-1].rows, reports[-1].done) == (100_000, 1)


@pytest.mark.parametrize("reading", READINGS)
def test_what_the_callback_raises_ends_the_call(connect: Any, tmp_path: Path, reading: str) -> None:
    # The last response never comes, so the call cannot be complete before it calls back.
    with scan_server(lambda asked: SILENCE if asked.part == 2 else ok_response(asked)) as parts:
        with pytest.raises(KeyError, match="enough"):
            read(scan_of_parts(connect(parts.base_url), 3), reading, tmp_path, Mock(side_effect=KeyError("enough")))
        assert list(tmp_path.iterdir()) == []


def test_retries_are_counted(connect: Any, sandbox: da.Sandbox) -> None:
    reports: list[da.Progress] = []
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-16"))
    with sandbox.fault("status", status=503, times=1):
        scan.collect(progress=reports.append)
    assert reports[-1].retries == 1
    scan.collect(progress=reports.append)
    assert reports[-1].retries == 0, "those of an earlier call count"


@pytest.mark.async_only
def test_what_the_callback_raises_ends_an_awaited_call(connect: Any, tmp_path: Path) -> None:
    def stop(_progress: da.Progress) -> None:
        wait_until(lambda: len(parts.asked) == 3)
        raise KeyError("enough")

    with scan_server(lambda _asked: SILENCE) as parts:
        with pytest.raises(KeyError, match="enough"):
            scan_of_parts(connect(parts.base_url), 3).to_parquet(tmp_path / "x", progress=stop)
        # Its work ends a moment later.
        wait_until(lambda: parts.server.open == 0 and not list(tmp_path.iterdir()))
