"""Tasks: one request each, the same whenever and wherever they are made, read as scans are, and with no token."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from support import kinds
from support.arguments import about
from support.contract import NOW, arguments, calls, named
from support.environment import in_parts
from support.pool_workers import any_token, arrow_of, ids_of
from support.raw_server import http
from support.scan_requests import OUTPUTS, ok_response, scan_of_parts, scan_server

import dataaccess as da

DAY = da.on("2024-01-15")
DAYS = da.days("2024-01-10", "2024-01-20")


def bare(held: Any) -> Any:
    """What tests of asyncio hold wrapped."""
    return getattr(held, "client", held)


def travelled(held: Any) -> Any:
    copy = pickle.loads(pickle.dumps(bare(held)))
    return copy if bare(held) is held else type(held)(copy, held._runner)


def by_day(client: Any, **options: Any) -> Any:
    return client.scan_codes(["id", "pool_id", "allocated_time"], allocated_time=DAYS, **options)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, sandbox: da.Sandbox) -> str:
    """The demo data as a client finds it that knows no token: in the environment."""
    token = sandbox.issue_token()
    monkeypatch.setenv("DATAACCESS_TOKEN", token)
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    return token


MEMBERS = ["demo-customer-0001", "ä\u2028\U0001f381", 'quote " and \\']
held_or_travelled = pytest.mark.parametrize("of", [lambda task: task, travelled], ids=["held", "travelled"])


def test_rows_of_all_tasks_are_those_of_the_scan(client: Any) -> None:
    scan = by_day(client)
    tasks = scan.tasks()
    for name, output in OUTPUTS.items():
        assert [row for task in tasks for row in output(task)] == output(scan), name
        assert sum(task.last_stats.rows for task in tasks) == scan.last_stats.rows
    (task,) = client.scan_codes(["id"], allocated_time=DAY).tasks()
    assert task.to_dicts() == client.search_codes(["id"], allocated_time=DAY)
    with pytest.raises(da.ValidationError, check=about("limit")):
        by_day(client, limit=5).tasks()


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


@pytest.mark.both_clients
@pytest.mark.parametrize("status", [None, "used", ["sent", "used"]], ids=str)
@held_or_travelled
@pytest.mark.usefixtures("elsewhere")
def test_a_task_is_a_scan_of_one_request(connect: Any, of: Any, status: Any, tmp_path: Path) -> None:
    scan = by_day(connect(None, token=None), code_status=status)
    scan.to_folder(tmp_path / "scan")
    tasks = [of(task) for task in scan.tasks()]
    assert [task.count() for task in tasks] == [len(task.collect()) for task in tasks]
    assert sum(task.count() for task in tasks) == scan.count()
    assert [task.head(2).to_dicts() for task in tasks] == [task.to_dicts()[:2] for task in tasks]
    for task in tasks:
        report = task.to_folder(tmp_path / "scan")
        assert (report.kept, report.new, report.refreshed) == (1, 0, 0)
        assert task.read_folder(tmp_path / "scan").to_dicts() == task.collect().to_dicts()
        assert task.tasks()[0].requests() == task.requests()
    refreshed = tasks[3].to_folder(tmp_path / "scan", refresh="all")
    assert (refreshed.refreshed, refreshed.rows) == (1, len(tasks[3].collect()))
    assert scan.to_folder(tmp_path / "scan").kept == len(tasks)
    assert scan.read_folder(tmp_path / "scan").to_dicts() == scan.collect().to_dicts()
    for task in tasks:
        task.to_folder(tmp_path / "tasks")
    assert scan.to_folder(tmp_path / "tasks").kept == len(tasks)


@held_or_travelled
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


@pytest.mark.usefixtures("short_pauses")
def test_a_task_is_retried_for_retry_for_and_named_in_the_error(connect: Any) -> None:
    with scan_server(lambda asked: http(b"", "500 Broken") if asked.part == 1 else ok_response(asked)) as parts:
        _, task, _ = scan_of_parts(connect(parts.base_url, retry_for=0.2), 3).tasks()
        with pytest.raises(da.ServerError, match=r"\b2 of 3\b") as caught:
            task.to_dicts()
        assert parts.asked == [1] * 2
        assert caught.value.attempts == 2
        again = scan_of_parts(connect(parts.base_url, retry_for=0), 3).tasks()[1]
        with pytest.raises(da.ServerError):
            again.to_dicts()
        assert parts.asked == [1] * 3


# Scans that the contract does not have.
FURTHER: dict[str, Callable[[Any], Any]] = {
    "more values than a request has": lambda client: client.scan_items(
        "store", ["a"], da.col("x").matches([*map(str, range(3_000))]), item_type_id=7
    ),
    "parts of a list": lambda client: in_parts(
        2, client.scan_codes, ["id"], allocated_time=DAY, audience_type="customer", allocated_audience=MEMBERS
    ),
    "old days": lambda client: client.scan_codes(["id"], allocated_time=da.days("1969-12-31", "1970-01-03")),
    "far days": lambda client: client.scan_codes(["id"], allocated_time=da.on("5999-12-31")),
    "types": lambda client: client.scan_codes(["pool_id"], allocated_time=DAY, schema={"pool_id": "string"}),
}


def check_that_tasks_travel(scan: Any) -> None:
    """A task requests the same once it travelled, and once more."""
    tasks = scan.tasks()
    assert [task.requests() for task in tasks] == [[request] for request in scan.requests()]
    for task in tasks:
        copy = travelled(task)
        assert copy.requests() == travelled(copy).requests() == task.requests()
        assert (copy.id, copy.column_names) == (task.id, task.column_names)
        assert repr(bare(copy)) == repr(bare(task))
        assert repr(bare(task)).startswith(f"Task({task.id}: scan_")


SCANS = [case for case in calls("client") if "problems" not in case and case["call"] != "download_segment"]


@pytest.mark.parametrize("case", SCANS, ids=named)
@pytest.mark.usefixtures("elsewhere")
def test_a_task_of_each_call_of_the_contract_travels(connect: Any, case: dict[str, Any], now: Any) -> None:
    now(NOW)
    client = connect(None, token=None, **case.get("client", {}))
    given = {name: value for name, value in arguments(case).items() if name != "limit"}
    check_that_tasks_travel(getattr(client, case["call"].replace("search_", "scan_"))(**given))


@pytest.mark.parametrize("scan", FURTHER)
@pytest.mark.usefixtures("elsewhere")
def test_a_task_that_travels_asks_for_the_same(connect: Any, scan: str) -> None:
    for zone in ("UTC", "Asia/Kolkata"):
        check_that_tasks_travel(FURTHER[scan](connect(None, token=None, timezone=zone)))


def test_a_task_that_travels_sees_rows_of_other_days(connect: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh"}) as service:
        monkeypatch.setenv("DATAACCESS_TOKEN", service.issue_token())
        code = {"id": "c", "name": "n", "allocated_time": "2024-01-14 18:00:00", "code_status": 3}
        service.load("promotion_code", [code])
        client = connect(service.base_url, token=None)
        scan = client.scan_codes(["allocated_time"], allocated_time=da.days("2024-01-15", "2024-01-16"))
        (task,) = scan.tasks()
        for held in (task, travelled(task)):
            with pytest.warns(da.StrayDayWarning):
                held.to_dicts()


def test_a_task_is_small_and_takes_no_token_along(connect: Any, elsewhere: str) -> None:
    client = connect(None, token=None)
    for task in by_day(client).tasks():
        packed = pickle.dumps(bare(task))
        assert len(packed) < 2_000
        assert elsewhere.encode() not in packed
    many = client.scan_codes(["id"], allocated_time=da.days("2020-01-01", "2024-01-01")).tasks()
    together = pickle.dumps([bare(task) for task in many])
    assert len(together) / len(many) < 500, "what they share is there once"


@pytest.mark.both_clients
def test_a_task_of_a_literal_token_does_not_travel(client: Any) -> None:
    task = bare(by_day(client).tasks()[0])
    with pytest.raises(TypeError, match=r"\bDATAACCESS_TOKEN\b.*\btoken_file\b") as caught:
        pickle.dumps(task)
    assert type(task._client).__name__ in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.usefixtures("elsewhere")
def test_pools_of_processes_and_threads_run_tasks(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method}")
    scan = by_day(da.Client())
    # The parent has a connection before it forks.
    expected = ids_of(scan)
    with multiprocessing.get_context(method).Pool(2) as pool:
        parts = pool.map_async(ids_of, scan.tasks()).get(timeout=50)
        tables = pool.map_async(arrow_of, scan.tasks()).get(timeout=50)
        with scan_server(lambda _asked: http({"code": 400, "message": "no such thing"}, "400 Bad Request")) as server:
            result = pool.map_async(ids_of, scan_of_parts(da.Client(server.base_url, token=any_token), 2).tasks())
            with pytest.raises(da.RequestRejectedError) as caught:
                result.get(timeout=50)
    assert (caught.value.operation, caught.value.api_message) == ("scan_items", "no such thing")
    assert [name for part in parts for name in part] == expected
    assert pa.concat_tables(tables).equals(scan.to_arrow())
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        assert list(threads.map(ids_of, scan.tasks(), timeout=50)) == parts
