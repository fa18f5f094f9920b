"""Tasks: one request each, small, the same whenever they are made, and at home in any engine."""

from __future__ import annotations

import asyncio
import concurrent.futures
import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from support.pool_workers import arrow_of, ids_of
from support.raw_server import http
from support.scan_requests import OUTPUTS, ScanRequest, ThenClose, ok_response, rows_of, scan_of_parts, scan_server

import dataaccess as da

DAYS = da.days("2024-01-10", "2024-01-20")
DAY = da.on("2024-01-15")


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, sandbox: da.Sandbox) -> str:
    """The demo data as a client finds it that knows no token: in the environment."""
    token = sandbox.issue_token()
    monkeypatch.setenv("DATAACCESS_TOKEN", token)
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    return token


def bare(held: Any) -> Any:
    """What tests of asyncio hold wrapped."""
    return getattr(held, "client", held)


def travelled(held: Any) -> Any:
    """The same task as in another process."""
    copy = pickle.loads(pickle.dumps(bare(held)))
    return copy if bare(held) is held else type(held)(copy, held._runner)


def by_day(client: Any, **options: Any) -> Any:
    return client.scan_codes(["id", "pool_id", "allocated_time"], allocated_time=DAYS, **options)


def test_tasks_are_the_requests_of_their_scan(connect: Any) -> None:
    with da.Sandbox.demo() as service:
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
    with pytest.raises(da.ValidationError, match=r"a scan with a limit has no tasks.*leave limit out") as caught:
        scan.tasks()
    assert [problem.argument for problem in caught.value.problems] == ["limit"]


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
        other = subprocess.run(command, env=environment, capture_output=True, check=True, text=True)  # noqa: S603
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


X = da.col("x")
MEMBERS = ["demo-customer-0001", "ä\u2028\U0001f381", 'quote " and \\']
RAW = {
    "OR": [
        {
            "AND": [
                {
                    "column": "x",
                    "data_type": "money",
                    "operator": "between",
                    "value": [1, 2.5, "x", True],
                    "value_type": "special",
                    "condition_type": "own",
                },
                {
                    "column": "y",
                    "data_type": "datetime",
                    "operator": "since",
                    "value": 1_705_276_812_345,
                    "time_unit": "HOUR",
                },
            ]
        },
        {"AND": [{"column": "z", "data_type": "number", "operator": "matches", "value": [2**63 - 1, 2**64 - 1, -0.5]}]},
    ]
}

# Every way to say a request.
WAYS: dict[str, Callable[[Any], Any]] = {
    "codes": lambda client: client.scan_codes(allocated_time=DAY),
    "codes of days": by_day,
    "codes of members": lambda client: client.scan_codes(
        ["id"],
        allocated_time=da.after("2024-01-01"),
        audience_type=["customer", "visitor"],
        allocated_audience=MEMBERS,
        code_status=["sent", 4],
        values_per_request=2,
    ),
    "codes by operators": lambda client: client.scan_codes(
        ["channel_id"], allocated_time=da.op("since", "2024-01-15T10:00", unit="HOUR"), code_status=da.op("not", [3, 4])
    ),
    "codes of old days": lambda client: client.scan_codes(["id"], allocated_time=da.days("1969-12-31", "1970-01-03")),
    "codes of far days": lambda client: client.scan_codes(["id"], allocated_time=da.on("5999-12-31")),
    "codes as items": lambda client: client.scan_items(
        "promotion_code", ["id"], da.col("allocated_time").on(DAYS) & da.col("code_status").matches([3])
    ),
    "items": lambda client: client.scan_items("customer", ["customer_id"], da.col("customer_id").matches(MEMBERS)),
    "items in chunks": lambda client: client.scan_items(
        "store",
        ["a"],
        X.matches([1, 2.5, 2**53 + 1, 2**64 - 1]) & da.col("opened").on(DAYS),
        item_type_id=7,
        values_per_request=3,
    ),
    "items in groups": lambda client: client.scan_items(
        "store",
        ["a"],
        (X.equals("1") | X.before("2024-01-01")) & (da.col("y").after(1_705_276_812_345) | X.equals("")),
        item_type_id=7,
    ),
    "items as text": lambda client: client.scan_items(
        "store", ["a", " b ", "ä"], X.equals("1"), item_type_id=7, attrs_format="string"
    ),
    "one item as text": lambda client: client.scan_items(
        "store", "a", X.equals("1"), item_type_id=7, attrs_format="string"
    ),
    "items as the document writes them": lambda client: client.scan_items("store", ["a"], RAW, item_type_id=7),
    "items by operators": lambda client: client.scan_items(
        "store",
        ["a"],
        X.op("like", "a%") & X.op("has", [True], data_type="bool") & X.op("at", 1e300, data_type="number"),
        item_type_id=7,
    ),
    "more values than a request has": lambda client: client.scan_items(
        "store", ["a"], X.matches([str(number) for number in range(3_000)]), item_type_id=7, values_per_request=3_000
    ),
    "typed": lambda client: client.scan_codes(["id", "pool_id"], allocated_time=DAY, schema={"pool_id": "string"}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.usefixtures("elsewhere")
def test_a_task_that_travels_asks_for_the_same(connect: Any, way: str) -> None:
    for zone in ("UTC", "Asia/Kolkata"):
        client = connect(None, token=None, timezone=zone)
        for task in WAYS[way](client).tasks():
            copy = travelled(task)
            assert copy.requests() == task.requests()
            assert (copy.id, copy.column_names) == (task.id, task.column_names)
            assert repr(bare(copy)) == repr(bare(task))
            assert travelled(copy).requests() == task.requests()


@pytest.mark.parametrize("way", ["codes", "codes of days", "typed", "codes as items"])
@pytest.mark.usefixtures("elsewhere")
def test_a_task_that_travels_gives_the_same_columns(connect: Any, way: str) -> None:
    for task in WAYS[way](connect(None, token=None)).tasks():
        copy = travelled(task)
        assert copy.to_arrow().equals(task.to_arrow())
        assert copy.to_dicts() == task.to_dicts()


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
    with pytest.raises(TypeError, match=r"does not pickle.*DATAACCESS_TOKEN.*token_file") as caught:
        pickle.dumps(task)
    assert type(task._client).__name__ in str(caught.value)


def test_a_task_is_read_as_a_scan_is() -> None:
    with da.Sandbox.demo() as service:
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


def test_a_task_without_known_types_is_asked_for_once() -> None:
    with scan_server(ok_response) as parts:
        task = scan_of_parts(da.Client(parts.base_url, token="tok-test"), 3, schema=None).tasks()[1]
        assert pa.schema(task).names == ["n", "text"]
        assert pa.table(task).to_pylist() == rows_of(1)
        assert parts.asked == [1]


@pytest.mark.usefixtures("short_pauses")
def test_a_task_is_retried_as_often_as_retries_says_and_named_in_the_error(connect: Any) -> None:
    def answers(asked: ScanRequest) -> bytes:
        return http(b"", "500 Broken") if asked.part == 1 else ok_response(asked)

    with scan_server(answers) as parts:
        _, task, _ = scan_of_parts(connect(parts.base_url, retries=7), 3).tasks()
        with pytest.raises(da.ServerError) as caught:
            task.to_dicts()
        assert parts.asked == [1] * 8
        assert caught.value.attempts == 8
        assert "request 2 of 3: " in str(caught.value)
        again = scan_of_parts(connect(parts.base_url, retries=0), 3).tasks()[1]
        with pytest.raises(da.ServerError):
            again.to_dicts()
        assert parts.asked == [1] * 9


@pytest.mark.usefixtures("elsewhere", "short_pauses")
def test_a_task_that_travelled_is_tried_as_often() -> None:
    def answers(asked: ScanRequest) -> bytes:
        whole = ok_response(asked)
        return whole if asked.attempt > 4 else ThenClose(whole[: -1 - asked.attempt])

    with scan_server(answers) as parts:
        (task,) = scan_of_parts(da.Client(parts.base_url), 1).tasks()
        copy = travelled(task)
        assert copy.to_dicts() == rows_of(0)
        assert copy.last_stats.retries == 5


# Engines.


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.usefixtures("elsewhere")
def test_multiprocessing(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method}")
    scan = by_day(da.Client())
    expected = ids_of(scan)
    with multiprocessing.get_context(method).Pool(2) as pool:
        parts = pool.map_async(ids_of, scan.tasks()).get(timeout=50)
        tables = pool.map_async(arrow_of, scan.tasks()).get(timeout=50)
        with scan_server(lambda _asked: http({"code": 400, "message": "no such thing"}, "400 Bad Request")) as server:
            result = pool.map_async(ids_of, scan_of_parts(da.Client(server.base_url), 2).tasks())
            with pytest.raises(da.RequestRejectedError, match="no such thing") as caught:
                result.get(timeout=50)
    assert caught.value.operation == "scan_items"
    assert [name for part in parts for name in part] == expected
    assert pa.concat_tables(tables).equals(scan.to_arrow())


@pytest.mark.parametrize("method", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.usefixtures("elsewhere")
def test_process_pools(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"there is no {method}")
    scan = by_day(da.Client())
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        parts = list(pool.map(ids_of, scan.tasks(), timeout=50))
    assert [name for part in parts for name in part] == ids_of(scan)


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
