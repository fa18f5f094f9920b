"""Lazy queries of polars: what they show, log and raise, and that rows come as they are needed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from threading import Event
from typing import Any

import polars as pl
import pytest
from support.arguments import about
from support.lazyframes import ENGINES, STATUS, TIME, codes
from support.raw_server import Close, serving
from support.streams import (
    CLOSING,
    HEAD,
    OPENING,
    client_of,
    endless,
    gone,
    in_parts,
    records,
    response_of,
    scan_of,
    whole,
)

import dataaccess as da
from dataaccess._scan import lazy

TYPES = {"n": "int64", "text": "string"}


def test_the_plan_of_polars_names_the_scan(sandbox: da.Sandbox) -> None:
    shown = codes(sandbox).filter(STATUS == 4).explain()
    assert "PYTHON[scan_codes] SCAN" in shown
    assert "promotion_code in 1 request" in shown


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_keep_their_class(sandbox: da.Sandbox, engine: Any) -> None:
    client = sandbox.client(scopes=["download"])
    with pytest.raises(da.PermissionDeniedError, match=r"\bitem\b"):
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_lazyframe().collect(engine=engine)
    # polars reports what fails while it asks for inferred types.
    with pytest.raises(pl.exceptions.ComputeError, match="PermissionDeniedError: scan_items"):
        client.scan_items("customer", ["city"]).to_lazyframe().collect(engine=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_truncated_response_is_no_result(engine: Any) -> None:
    def cut(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 100_000))
        raise Close

    with serving(cut) as server:
        frame = scan_of(client_of(server), schema=TYPES).to_lazyframe()
        with pytest.raises(da.StreamInterruptedError, check=lambda error: error.rows_yielded == 65536):
            frame.collect(engine=engine)


def test_a_split_scan_is_refused(sandbox: da.Sandbox) -> None:
    scan = sandbox.client().scan_codes(allocated_time=da.on("2024-01-15"), on_suspected_cap="split")
    with pytest.raises(da.ValidationError, check=about("on_suspected_cap")):
        scan.to_lazyframe()


def test_a_doubt_is_a_warning() -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 50}) as sandbox:
        week = da.days("2024-01-15", "2024-01-22")
        with pytest.warns(da.IncompleteWarning):
            codes(sandbox, allocated_time=week).select("id").collect()


@pytest.mark.parametrize("engine", ENGINES)
def test_a_filter_that_finds_nothing_is_no_doubt(engine: Any) -> None:
    sent = [{"id": str(day), "code_status": 3, "allocated_time": f"2024-01-0{day} 12:00:00"} for day in (1, 9)]
    with da.Sandbox() as sandbox:
        sandbox.load("promotion_code", sent)
        client = sandbox.client(timezone="UTC")
        frame = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-01-10")).to_lazyframe()
        # Warnings are errors here.
        between = TIME.dt.date().is_between(date(2024, 1, 3), date(2024, 1, 5))
        assert frame.filter(between).collect(engine=engine).height == 0
        with pytest.warns(da.EmptyResultWarning):
            client.scan_codes(allocated_time=da.days("2024-01-03", "2024-01-06")).to_polars()


def test_an_attribute_that_only_other_rows_have_is_no_doubt() -> None:
    row = {"id": "a", "allocated_time": "2024-01-15 10:00:00"}
    with serving(lambda connection, _number: connection.sendall(response_of([row]))) as server:
        scan = client_of(server, timezone="UTC").scan_codes(
            ["id", "allocated_time", "last_used_source"], allocated_time=da.days("2024-01-15", "2024-01-16")
        )
        week = client_of(server, timezone="UTC").scan_codes(
            ["id", "allocated_time", "last_used_source"], allocated_time=da.days("2024-01-12", "2024-01-19")
        )
        assert week.to_lazyframe().filter(TIME.dt.date() == date(2024, 1, 15)).collect().height == 1
        with pytest.warns(da.AbsentAttributeWarning, match="last_used_source"):
            scan.to_lazyframe().filter(pl.col("id") == "a").collect()


RUNS: dict[str, Callable[[pl.LazyFrame], object]] = {
    "in-memory": lambda frame: frame.collect(engine="in-memory"),
    "streaming": lambda frame: frame.collect(engine="streaming"),
    "all": lambda frame: pl.collect_all([frame, frame.select("id")]),
    "sink": lambda frame: frame.sink_batches(lambda _frame: None),
    "background": lambda frame: list(frame.collect_batches()),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_warning_names_the_line_that_made_the_frame(name: str) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 50}) as sandbox:
        scan = sandbox.client().scan_codes(allocated_time=da.days("2024-01-15", "2024-01-22"))
        frame = scan.to_lazyframe()
        with pytest.warns(da.IncompleteWarning) as caught:
            RUNS[name](frame)
    made = Path(__file__).read_text().splitlines().index("        frame = scan.to_lazyframe()") + 1
    assert {(warning.filename, warning.lineno) for warning in caught} == {(__file__, made)}


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
        frame = scan_of(client_of(server), schema=TYPES).to_lazyframe()
        frame.filter(pl.col("n") >= 0).sink_batches(take, chunk_size=10_000)
        assert sum(sizes) == 66_537
        arrived.set()
        frame.sink_parquet(tmp_path / "rows.parquet")
    assert pl.read_parquet(tmp_path / "rows.parquet")["n"].to_list() == list(range(66_537))


def test_a_query_that_has_enough_ends_its_requests() -> None:
    with serving(endless(70_000)) as server:
        frame = scan_of(client_of(server), schema=TYPES).to_lazyframe()
        found = frame.filter(pl.col("n") > 5).head(2).collect(engine="streaming")
        assert found["n"].to_list() == [6, 7]
        assert gone(server)


def test_a_query_that_failed_ends_its_requests() -> None:
    def fail(_frame: pl.DataFrame) -> None:
        raise ZeroDivisionError

    with serving(endless(70_000)) as server:
        frame = scan_of(client_of(server), schema=TYPES).to_lazyframe()
        with pytest.raises(ZeroDivisionError):
            frame.sink_batches(fail, chunk_size=1_000)
        assert gone(server)


def test_a_query_that_rests_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy, "_RELEASE", 0.05)
    sizes: list[int] = []

    def slow(frame: pl.DataFrame) -> None:
        sizes.append(frame.height)
        if len(sizes) == 1:
            time.sleep(1)

    with serving(in_parts(whole(400_000))) as server:
        scan_of(client_of(server), schema=TYPES).to_lazyframe().sink_batches(slow, chunk_size=10_000)
    assert sum(sizes) == 400_000


def test_batches_that_nobody_reads_any_more_end_their_requests() -> None:
    with serving(endless(400_000)) as server:
        batches = scan_of(client_of(server), schema=TYPES).to_lazyframe().collect_batches(chunk_size=65_536)
        assert next(batches).height > 0
        del batches
        assert gone(server)


EARLY = """
import sys, time
import dataaccess as da
import polars as pl

scan = da.Client(sys.argv[1], token="tok").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
frame = scan.to_lazyframe()
assert frame.filter(pl.col("id") != "").head(1).collect(engine="streaming").height == 1
print(time.time())
"""


def test_a_program_ends_at_once_after_a_query_that_had_enough() -> None:
    stop = Event()

    def stall(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + b",".join(b'{"id": "%d"}' % number for number in range(200_000)))
        stop.wait(30)

    with serving(stall) as server:
        run = subprocess.run(
            [sys.executable, "-c", EARLY, server.base_url], capture_output=True, check=True, timeout=50
        )
        late = time.time() - float(run.stdout)
        stop.set()
    assert late < 5
