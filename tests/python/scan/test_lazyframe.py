"""Lazy queries of polars: what they show, log and raise, and that rows come as they are needed."""
# ruff: noqa: DTZ001, SIM300 - columns have no zone; conditions are as users write them

from __future__ import annotations

import logging
import time
from datetime import datetime
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pytest
from support.lazyframes import ENGINES, STATUS, TIME, WHO, codes
from support.raw_server import Close, serving
from support.streams import CLOSING, HEAD, OPENING, client_of, endless, records, scan_of

import dataaccess as da


def test_the_plan_of_polars_names_the_scan(sandbox: da.Sandbox) -> None:
    shown = codes(sandbox).filter(STATUS == 4).explain()
    assert "PYTHON[scan_codes] SCAN" in shown
    assert "promotion_code in 1 request" in shown


def test_explain_query_shows_the_requests_and_sends_none(sandbox: da.Sandbox) -> None:
    scan = sandbox.client().scan_codes(["id", "code_status"], allocated_time=da.days("2024-01-01", "2024-04-01"))
    sandbox.clear_requests()
    assert scan.explain_query(lambda rows: rows.filter(STATUS.is_in([3, 4]))) == (
        "promotion_code (-100) in 91 requests, days and times in UTC\n"
        "service filters: code_status matches SENT (3), USED (4)\n"
        "                 allocated_time equals DAY of 2024-01-01 … 2024-03-31, one per request\n"
        "columns:         id string, code_status int64\n"
        "not checked:     the day of the rows: allocated_time is not in attrs\n"
        'polars filters:  col("code_status").is_in([[3, 4]])'
    )
    assert "no request" in scan.explain_query(lambda rows: rows.filter(STATUS == 4, STATUS == 3))
    twice = scan.explain_query(lambda rows: pl.concat([rows.filter(STATUS == 4), rows.filter(STATUS == 3)]))
    assert [twice.count("matches USED (4)"), twice.count("matches SENT (3)"), twice.count("\n\n")] == [1, 1, 1]
    assert sandbox.requests == []


def test_a_query_logs_what_it_requests(sandbox: da.Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    frame = codes(sandbox, allocated_time=da.days("2024-01-01", "2024-02-01"))
    with caplog.at_level(logging.DEBUG, "dataaccess.polars"):
        frame.filter(TIME > datetime(2024, 1, 31), WHO == "demo-customer-0001").select("id").collect()
    (record,) = [record for record in caplog.records if record.name == "dataaccess.polars"]
    assert record.getMessage() == (
        "scan_codes: at most 2 of 31 requests, 3 of 10 columns, narrowed by allocated_audience, allocated_time"
    )


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_keep_their_class(sandbox: da.Sandbox, engine: Any) -> None:
    client = sandbox.client(scopes=["download"])
    with pytest.raises(da.PermissionDeniedError, match="needs the scope item"):
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_lazyframe().collect(engine=engine)
    # polars reports what fails while it asks for inferred types.
    with pytest.raises(pl.exceptions.ComputeError, match="PermissionDeniedError: scan_items: the service refused"):
        client.scan_items("customer", ["name"]).to_lazyframe().collect(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_truncated_response_is_no_result(engine: Any) -> None:
    def cut(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 100_000))
        raise Close

    with serving(cut) as server:
        frame = scan_of(client_of(server), schema={"n": "int64", "text": "string"}).to_lazyframe()
        with pytest.raises(da.StreamInterruptedError, match="cut off after 65536 rows"):
            frame.collect(engine=engine)


def test_a_split_scan_is_refused(sandbox: da.Sandbox) -> None:
    scan = sandbox.client().scan_codes(allocated_time=da.on("2024-01-15"), on_suspected_cap="split")
    with pytest.raises(da.ValidationError, match="on_suspected_cap"):
        scan.to_lazyframe()


def test_a_doubt_is_a_warning() -> None:
    with da.Sandbox.demo(switches={"maximum_rows": 50}) as sandbox:
        week = da.days("2024-01-15", "2024-01-22")
        with pytest.warns(da.IncompleteWarning):
            codes(sandbox, allocated_time=week).select("id").collect()


def test_batches_are_computed_with_as_they_come(tmp_path: Path) -> None:
    arrived = Event()

    def waits(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 65_537))
        # The rest comes only once polars has the first rows.
        assert arrived.wait(20)
        connection.sendall(b"," + records(65_537, 1_000) + CLOSING)
        raise Close

    sizes: list[int] = []

    def take(frame: pl.DataFrame) -> None:
        sizes.append(frame.height)
        arrived.set()

    with serving(waits) as server:
        frame = scan_of(client_of(server), schema={"n": "int64", "text": "string"}).to_lazyframe()
        frame.filter(pl.col("n") >= 0).sink_batches(take, chunk_size=10_000)
        assert sum(sizes) == 66_537
        arrived.set()
        frame.sink_parquet(tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet")["n"].to_list() == list(range(66_537))


def test_a_query_that_has_enough_ends_its_requests() -> None:
    with serving(endless(70_000)) as server:
        frame = scan_of(client_of(server), schema={"n": "int64", "text": "string"}).to_lazyframe()
        found = frame.filter(pl.col("n") > 5).head(2).collect(engine="streaming")
        assert found["n"].to_list() == [6, 7]
        deadline = time.monotonic() + 10
        while server.open and time.monotonic() < deadline:
            # polars lets go of what it was reading when it runs again.
            pl.LazyFrame({"n": [1]}).collect(engine="streaming")
            time.sleep(0.05)
        assert server.open == 0
