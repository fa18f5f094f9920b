"""A column that is null on the first day takes the type of its first value, in folders, files and streams.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from support.raw_server import RawServer, http, in_turn, serving

import dataaccess as da


def body(*records: dict[str, Any]) -> bytes:
    return http({"code": 200, "message": "", "data": {"status": True, "data": list(records)}})


def scan_of(server: Any, days: int, **options: Any) -> da.Scan:
    client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone="UTC", concurrency=1)
    on = da.days("2024-01-01", f"2024-01-{days + 1:02}")
    return client.scan_items("store", ["id", "v"], da.col("t").on(on), **options)


@pytest.mark.parametrize("value", [7, 7.5, True, "text", {"a": 1}])
def test_days_of_one_run(value: Any, tmp_path: Path) -> None:
    with serving(
        in_turn(body({"id": "a", "v": None}), body(), body({"id": "b", "v": value}), body({"id": "c"}))
    ) as server:
        scan = scan_of(server, 4)
        scan.to_folder(tmp_path)
        expected = [None, '{"a":1}' if isinstance(value, dict) else value, None]
        assert scan.read_folder(tmp_path).to_arrow()["v"].to_pylist() == expected
        assert pl.read_parquet(tmp_path)["v"].to_list() == expected
        assert [
            row[0] for row in duckdb.execute(f"select v from '{tmp_path}/**/*.parquet' order by id").fetchall()
        ] == expected
        assert len(pd.read_parquet(tmp_path)) == 3


def test_days_of_several_runs(tmp_path: Path) -> None:
    with serving(in_turn(body({"id": "a", "v": None}), body({"id": "b", "v": 7}), body({"id": "c", "v": 8}))) as server:
        for days in (1, 2, 3):
            scan_of(server, days).to_folder(tmp_path)
        assert len(server.requests) == 3
        read = scan_of(server, 3).read_folder(tmp_path).to_arrow()
        assert read["v"].to_pylist() == [None, 7, 8]
        assert pl.read_parquet(tmp_path)["v"].to_list() == [None, 7, 8]


def test_a_day_at_a_time(tmp_path: Path) -> None:
    with serving(
        in_turn(body({"id": "a", "v": None}), body({"id": "b", "v": 7}), body({"id": "c", "v": None}))
    ) as server:
        client = da.Client(server.base_url, token="t", item_types={"store": 7}, timezone="UTC")
        for day in (1, 2, 3):
            on = da.days(f"2024-01-{day:02}", f"2024-01-{day + 1:02}")
            client.scan_items("store", ["id", "v"], da.col("t").on(on)).to_folder(tmp_path)
        assert pl.read_parquet(tmp_path)["v"].to_list() == [None, 7, None]


def test_a_column_that_never_has_a_value(tmp_path: Path) -> None:
    with serving(in_turn(body({"id": "a", "v": None}), body({"id": "b", "v": None}))) as server:
        scan = scan_of(server, 2)
        scan.to_folder(tmp_path)
        assert scan.read_folder(tmp_path).to_arrow()["v"].to_pylist() == [None, None]
        scan.to_folder(tmp_path)
        assert len(server.requests) == 2


def test_a_value_of_another_type_still_fails_its_day(tmp_path: Path) -> None:
    bodies = [body({"id": "a"}), body({"id": "b", "v": 7}), body({"id": "c", "v": "x"})]
    with serving(in_turn(*bodies)) as server, pytest.raises(da.ScanIncompleteError):
        scan_of(server, 3).to_folder(tmp_path)


@contextmanager
def by_day(*bodies: bytes) -> Iterator[RawServer]:
    """A server that responds to each request with the body of its day, whichever comes first."""
    started: list[RawServer] = []

    def respond(connection: socket.socket, number: int) -> None:
        found = re.search(rb"1704\d{9}", started[0].requests[number].body)
        assert found is not None
        connection.sendall(bodies[(int(found[0]) - 1_704_067_200_000) // 86_400_000])

    with serving(respond) as server:
        started.append(server)
        yield server


@pytest.mark.parametrize("use", ["parquet", "csv", "batches", "polars", "duckdb"])
def test_files_and_streams(use: str, tmp_path: Path) -> None:
    bodies = [body({"id": "a", "v": None}), body({"id": "b", "v": 7}), body({"id": "c", "v": None})]
    with by_day(*bodies) as server:
        scan = scan_of(server, 3)
        values: list[Any]
        match use:
            case "parquet":
                scan.to_parquet(tmp_path / "x.parquet")
                values = pl.read_parquet(tmp_path / "x.parquet")["v"].to_list()
            case "csv":
                scan.to_csv(tmp_path / "x.csv")
                values = pl.read_csv(tmp_path / "x.csv")["v"].to_list()
            case "batches":
                values = [value for batch in scan.batches() for value in batch.to_arrow()["v"].to_pylist()]
            case "polars":
                values = scan.to_lazyframe().collect()["v"].to_list()
            case _:
                values = [row[0] for row in duckdb.execute("select v from scan").fetchall()]
        assert values == [None, 7, None]
