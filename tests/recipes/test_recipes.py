"""Each recipe runs as a program, and what it leaves behind is what the service has."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import dataaccess as da

Run = Callable[..., str]

pytestmark = pytest.mark.timeout(180)

JANUARY = da.days("2024-01-01", "2024-02-01")


def ids(service: da.Sandbox, days: Any) -> list[str]:
    return sorted(row["id"] for row in service.client().scan_codes(["id"], allocated_time=days).to_dicts())


def days_of(service: da.Sandbox) -> list[str]:
    """The days that were requested."""
    bodies: list[Any] = [request.body for request in service.requests]
    times = [condition["value"] for body in bodies for condition in body["filters"]["OR"][0]["AND"]]
    return sorted(str(dt.datetime.fromtimestamp(time / 1000, dt.UTC).date()) for time in times)


def test_duckdb_reads_the_folder_of_a_run(run: Run, service: da.Sandbox, tmp_path: Path) -> None:
    printed = run("duckdb_codes.py")
    table = service.client().scan_codes(allocated_time=JANUARY).collect()

    found = duckdb.read_parquet(f"{tmp_path}/codes/**/*.parquet").order("id").project("id").fetchall()
    assert [row[0] for row in found] == ids(service, JANUARY)
    used = sum(
        1
        for row in table.to_pylist()
        if row["code_status"] == 4 and row["allocated_time"].date().isoformat() == "2024-01-01"
    )
    assert any(line.split("│")[1:3] == [" 2024-01-01 ", f" {used:5} "] for line in printed.splitlines()), printed
    service.clear_requests()
    run("duckdb_codes.py")
    assert service.requests == []


def test_dlt_loads_the_days_since_the_last_run(run: Run, service: da.Sandbox, tmp_path: Path) -> None:
    run("dlt_codes.py", "2024-01-11")
    assert days_of(service) == [f"2024-01-{day:02}" for day in range(1, 11)]
    changed = ids(service, da.on("2024-01-09"))[0]
    [row] = [
        each for each in service.client().search_codes(allocated_time=da.on("2024-01-09")) if each["id"] == changed
    ]
    service.load("promotion_code", [{**row, "code_status": 4, "name": "changed since"}], replace=True)
    service.clear_requests()
    run("dlt_codes.py", "2024-01-21")
    assert days_of(service) == [f"2024-01-{day:02}" for day in range(7, 21)]

    with duckdb.connect(str(tmp_path / "codes.duckdb")) as warehouse:
        found = warehouse.sql("select id from warehouse.codes order by id").fetchall()
        names = warehouse.execute("select name from warehouse.codes where id = ?", [changed]).fetchall()
    assert [row[0] for row in found] == ids(service, da.days("2024-01-01", "2024-01-21"))
    assert names == [("changed since",)]


def test_postgres_has_every_code_once(run: Run, service: da.Sandbox, postgres: str) -> None:
    assert run("postgres_codes.py", postgres, "2024-01-01", "2024-02-01") == "2,170 codes\n"
    run("postgres_codes.py", postgres, "2024-01-31", "2024-02-02")

    with psycopg.connect(postgres) as connection:
        connection.execute("set time zone 'Asia/Ho_Chi_Minh'")
        found = connection.execute("select id, allocated_time, pool_id, code_status from codes order by id").fetchall()
    rows = service.client().scan_codes(allocated_time=da.days("2024-01-01", "2024-02-02")).collect(tz="UTC").to_pylist()
    names = ("id", "allocated_time", "pool_id", "code_status")
    assert found == sorted(tuple(row[name] for name in names) for row in rows)


def test_postgres_keeps_nothing_of_a_failure(run: Run, service: da.Sandbox, postgres: str) -> None:
    with service.fault("status", status=400, after=20), pytest.raises(AssertionError, match="RequestRejectedError"):
        run("postgres_codes.py", postgres, "2024-01-01", "2024-02-01")
    with psycopg.connect(postgres) as connection:
        assert connection.execute("select to_regclass('codes')").fetchone() == (None,)


def test_dask_distributes_the_tasks(run: Run, service: da.Sandbox) -> None:
    printed = run("dask_codes.py")
    table = service.client().scan_codes(allocated_time=da.days("2024-01-01", "2024-03-01")).collect()
    used = [row["pool_id"] for row in table.to_pylist() if row["code_status"] == 4]
    for pool in set(used):
        assert f"{pool}    {used.count(pool)}" in printed
    # Each day once, from two workers.
    assert len(days_of(service)) == 60 + 60
