"""Tasks: one request each, the same whenever they are made, read as scans are."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.arguments import about
from support.parts import in_parts
from support.pool_workers import ids_of
from support.raw_server import http
from support.scan_requests import OUTPUTS, ScanRequest, ok_response, rows_of, scan_of_parts, scan_server
from support.tasks import bare, by_day, travelled

import dataaccess as da

DAY = da.on("2024-01-15")


def test_tasks_are_the_requests_of_their_scan(connect: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        scan = by_day(connect(service))
        tasks = scan.tasks()
        assert [task.requests() for task in tasks] == [[request] for request in scan.requests()]
        assert all(task.column_names == scan.column_names for task in tasks)
        assert service.requests == [], "nothing is sent to make a task"
        assert [row for task in tasks for row in task.to_dicts()] == scan.to_dicts()
        assert len(service.requests) == 20


@pytest.mark.parametrize("output", OUTPUTS)
def test_rows_of_all_tasks_are_those_of_the_scan(client: Any, output: str) -> None:
    scan = by_day(client)
    tasks = scan.tasks()
    assert [row for task in tasks for row in OUTPUTS[output](task)] == OUTPUTS[output](scan)
    assert sum(task.last_stats.rows for task in tasks) == scan.last_stats.rows


def test_a_scan_of_one_request_has_one_task(client: Any) -> None:
    (task,) = client.scan_codes(["id"], allocated_time=DAY).tasks()
    assert task.to_dicts() == client.search_codes(["id"], allocated_time=DAY)
    assert task.head(3).num_rows == 3
    assert task.last_stats.rows == 3


def test_a_limited_scan_has_no_tasks(client: Any) -> None:
    scan = by_day(client, limit=5)
    with pytest.raises(da.ValidationError, check=about("limit")):
        scan.tasks()


@pytest.mark.both_clients
def test_a_task_shows_what_it_is(client: Any) -> None:
    task = bare(by_day(client).tasks()[3])
    kind = type(task).__name__
    assert kind in {"Task", "AsyncTask"}
    assert repr(task).startswith(f"{kind}({task.id}: scan_codes of id, pool_id, allocated_time; ")


IDENTIFY = """
import warnings
warnings.simplefilter("ignore")
import dataaccess as da
client = da.Client("http://127.0.0.1:9", token="another", concurrency=2, timezone="UTC")
scan = client.scan_codes(["id", "pool_id", "allocated_time"], allocated_time=da.days("2024-01-10", "2024-01-20"))
print(*(task.id for task in scan.tasks()))
"""


@pytest.mark.usefixtures("elsewhere")
def test_names_are_the_same_whenever_and_wherever_tasks_are_made(connect: Any) -> None:
    client = connect(None, token=None)
    names = [task.id for task in by_day(client).tasks()]
    assert len(set(names)) == 10
    assert [name[:10] for name in names] == [f"2024-01-{day}" for day in range(10, 20)]
    assert names == sorted(names)
    assert names == [task.id for task in by_day(client).tasks()]
    assert names == [travelled(task).id for task in by_day(client).tasks()]
    command = [sys.executable, "-c", IDENTIFY]
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        other = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)
        assert other.stdout.split() == names


def test_other_requests_have_other_names(client: Any) -> None:
    def name(attrs: list[str], **options: Any) -> str:
        return str(client.scan_codes(attrs, **options).tasks()[0].id)

    x = da.col("x")
    names = [
        name(["id"], allocated_time=DAY),
        name(["name"], allocated_time=DAY),
        name(["id", "name"], allocated_time=DAY),
        name(["id"], allocated_time=da.on("2024-01-16")),
        name(["id"], allocated_time=da.after("2024-01-15")),
        name(["id"], allocated_time=DAY, code_status="used"),
        name(["id"], allocated_time=DAY, allocated_audience="a"),
        *(
            client.scan_items(*what, item_type_id=number).tasks()[0].id
            for what, number in [
                (("store", ["a"], x.equals("1")), 7),
                (("store", ["a"], x.equals("1")), 8),
                (("shop", ["a"], x.equals("1")), 7),
                (("store", ["a"], x.equals("2")), 7),
                (("store", ["a"], x.matches(["1"])), 7),
                (("store", ["a"], x.equals(1)), 7),
            ]
        ),
    ]
    assert len(set(names)) == len(names)


def test_a_task_is_read_as_a_scan_is() -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        task = by_day(service.client()).tasks()[5]
        rows = task.collect().to_arrow()
        service.clear_requests()
        assert pa.table(task).equals(rows)
        assert pl.DataFrame(task).to_arrow().num_rows == rows.num_rows
        counted = duckdb.sql("select count(*) from task")
        assert counted is not None
        assert counted.fetchall() == [(rows.num_rows,)]
        assert pa.RecordBatchReader.from_stream(task).read_all().equals(rows)
        assert len(service.requests) == 4
        assert {request.body == task.requests()[0]["body"] for request in service.requests} == {True}


def test_a_task_writes_its_rows_into_a_file(client: Any, tmp_path: Path) -> None:
    task = by_day(client).tasks()[5]
    task.to_parquet(tmp_path / "day.parquet")
    task.to_jsonl(tmp_path / "day.jsonl")
    assert pq.read_table(tmp_path / "day.parquet").to_pylist() == task.collect().to_pylist()
    assert len((tmp_path / "day.jsonl").read_text().splitlines()) == task.collect().num_rows > 0


@pytest.mark.both_clients
@pytest.mark.parametrize("status", [None, "used", ["sent", "used"]], ids=str)
@pytest.mark.parametrize("of", [lambda task: task, travelled], ids=["held", "travelled"])
@pytest.mark.usefixtures("elsewhere")
def test_a_task_is_a_scan_of_one_request(connect: Any, of: Any, status: Any, tmp_path: Path) -> None:
    scan = by_day(connect(None, token=None), code_status=status)
    scan.to_folder(tmp_path)
    tasks = [of(task) for task in scan.tasks()]
    assert [task.count() for task in tasks] == [len(task.collect()) for task in tasks]
    assert sum(task.count() for task in tasks) == scan.count()
    assert [task.head(2).to_dicts() for task in tasks] == [task.to_dicts()[:2] for task in tasks]
    for task in tasks:
        report = task.to_folder(tmp_path)
        assert (report.kept, report.new, report.refreshed) == (1, 0, 0)
        assert task.read_folder(tmp_path).to_dicts() == task.collect().to_dicts()
        assert task.tasks()[0].requests() == task.requests()
    refreshed = tasks[3].to_folder(tmp_path, refresh="all")
    assert (refreshed.refreshed, refreshed.rows) == (1, len(tasks[3].collect()))
    assert scan.to_folder(tmp_path).kept == len(tasks)
    assert scan.read_folder(tmp_path).to_dicts() == scan.collect().to_dicts()


@pytest.mark.parametrize("of", [lambda task: task, travelled], ids=["held", "travelled"])
@pytest.mark.usefixtures("elsewhere")
def test_tasks_fill_the_folder_of_their_scan(connect: Any, of: Any, tmp_path: Path) -> None:
    scan = by_day(connect(None, token=None))
    for task in scan.tasks():
        of(task).to_folder(tmp_path)
    report = scan.to_folder(tmp_path)
    assert (report.kept, report.new) == (10, 0)
    assert scan.read_folder(tmp_path).to_dicts() == scan.collect().to_dicts()


@pytest.mark.parametrize("of", [lambda task: task, travelled], ids=["held", "travelled"])
@pytest.mark.parametrize("days", [DAY, da.days("2024-01-10", "2024-01-13")], ids=["flat", "days"])
@pytest.mark.usefixtures("elsewhere")
def test_a_part_of_a_list_has_a_folder_of_its_own(connect: Any, of: Any, days: Any, tmp_path: Path) -> None:
    who = ["demo-customer-0001", "demo-customer-0002", "demo-visitor-0001"]
    options: Any = {"allocated_time": days, "allocated_audience": who}
    scan = in_parts(1, connect(None, token=None).scan_codes, ["id"], **options)
    scan.to_folder(tmp_path / "scan")
    before = {path: path.read_bytes() for path in (tmp_path / "scan").rglob("*.parquet")}
    for number, task in enumerate(map(of, scan.tasks())):
        for use in (task.to_folder, task.read_folder):
            with pytest.raises(kinds.Mismatch):
                use(tmp_path / "scan")
        own = tmp_path / str(number)
        assert task.to_folder(own).new == 1
        assert task.read_folder(own).to_dicts() == task.to_dicts()
        with pytest.raises(kinds.Mismatch):
            scan.to_folder(own)
    assert before == {path: path.read_bytes() for path in (tmp_path / "scan").rglob("*.parquet")} != {}


@pytest.mark.parametrize("of", [lambda task: task, travelled], ids=["held", "travelled"])
@pytest.mark.usefixtures("elsewhere")
def test_a_task_has_lazy_queries(connect: Any, of: Any) -> None:
    scan = by_day(da.Client(connect(None, token=None).base_url), code_status="used")
    for task in map(of, scan.tasks()):
        frame, rows = task.to_lazyframe(), task.to_polars()
        assert frame.collect().equals(rows)
        assert frame.head(2).collect().equals(rows.head(2))
        assert frame.select("pool_id").collect().equals(rows.select("pool_id"))
        late = pl.col("allocated_time") >= datetime(2024, 1, 15, 12)  # noqa: DTZ001 - columns have no zone
        assert frame.filter(late).collect().equals(rows.filter(late))


def test_a_task_without_known_types_is_asked_for_once() -> None:
    with scan_server(ok_response) as parts:
        task = scan_of_parts(da.Client(parts.base_url, token="tok-test"), 3, schema=None).tasks()[1]
        assert pa.schema(task).names == ["n", "text"]
        assert pa.table(task).to_pylist() == rows_of(1)
        assert parts.asked == [1]


@pytest.mark.usefixtures("short_pauses")
def test_a_task_is_retried_for_retry_for_and_named_in_the_error(connect: Any) -> None:
    def respond(asked: ScanRequest) -> bytes:
        return http(b"", "500 Broken") if asked.part == 1 else ok_response(asked)

    with scan_server(respond) as parts:
        _, task, _ = scan_of_parts(connect(parts.base_url, retry_for=0.2), 3).tasks()
        with pytest.raises(da.ServerError, match=r"\b2 of 3\b") as caught:
            task.to_dicts()
        assert parts.asked == [1] * 2
        assert caught.value.attempts == 2
        again = scan_of_parts(connect(parts.base_url, retry_for=0), 3).tasks()[1]
        with pytest.raises(da.ServerError):
            again.to_dicts()
        assert parts.asked == [1] * 3


# Engines.


def test_threads(sandbox: da.Sandbox) -> None:
    scan = by_day(sandbox.client())
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(ids_of, scan.tasks(), timeout=50))
    assert [name for part in parts for name in part] == ids_of(scan)


def test_asyncio(sandbox: da.Sandbox) -> None:
    async def main() -> tuple[list[Any], list[Any]]:
        async with da.AsyncClient(sandbox.base_url, token=sandbox.issue_token()) as client:
            scan = by_day(client)
            parts = await asyncio.gather(*(task.to_dicts() for task in scan.tasks()))
            return [row for part in parts for row in part], await scan.to_dicts()

    rows, expected = asyncio.run(main())
    assert rows == expected
