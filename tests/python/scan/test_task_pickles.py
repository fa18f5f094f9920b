"""Tasks in other processes: the same requests, rows and retries, and no token."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import pickle
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest
from support.parts import in_parts
from support.pool_workers import any_token, arrow_of, ids_of
from support.raw_server import http
from support.scan_requests import ScanRequest, ThenClose, ok_response, rows_of, scan_of_parts, scan_server
from support.tasks import DAYS, bare, by_day, travelled

import dataaccess as da

DAY = da.on("2024-01-15")
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
    "codes of members": lambda client: in_parts(
        2,
        client.scan_codes,
        ["id"],
        allocated_time=da.after("2024-01-01"),
        audience_type=["customer", "visitor"],
        allocated_audience=MEMBERS,
        code_status=["sent", 4],
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
    "items in chunks": lambda client: in_parts(
        3,
        client.scan_items,
        "store",
        ["a"],
        X.matches([1, 2.5, 2**53 + 1, 2**64 - 1]) & da.col("opened").on(DAYS),
        item_type_id=7,
    ),
    "items in groups": lambda client: client.scan_items(
        "store",
        ["a"],
        (X.equals("1") | X.before("2024-01-01")) & (da.col("y").after(1_705_276_812_345) | X.equals("")),
        item_type_id=7,
    ),
    "items as text": lambda client: client.scan_items("store", ["a", " b ", "ä"], X.equals("1"), item_type_id=7),
    "one item as text": lambda client: client.scan_items("store", "a", X.equals("1"), item_type_id=7),
    "items as the API specification writes them": lambda client: client.scan_items("store", ["a"], RAW, item_type_id=7),
    "items by operators": lambda client: client.scan_items(
        "store",
        ["a"],
        X.op("like", "a%") & X.op("has", [True], data_type="bool") & X.op("at", 1e300, data_type="number"),
        item_type_id=7,
    ),
    "more values than a request has": lambda client: in_parts(
        3_000,
        client.scan_items,
        "store",
        ["a"],
        X.matches([str(number) for number in range(3_000)]),
        item_type_id=7,
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
    with pytest.raises(TypeError, match=r"\bDATAACCESS_TOKEN\b.*\btoken_file\b") as caught:
        pickle.dumps(task)
    assert type(task._client).__name__ in str(caught.value)


@pytest.mark.usefixtures("elsewhere", "short_pauses")
def test_a_task_that_travelled_is_tried_as_often() -> None:
    def respond(asked: ScanRequest) -> bytes:
        whole = ok_response(asked)
        return whole if asked.attempt > 4 else ThenClose(whole[: -1 - asked.attempt])

    with scan_server(respond) as parts:
        (task,) = scan_of_parts(da.Client(parts.base_url, token=any_token), 1).tasks()
        copy = travelled(task)
        assert copy.to_dicts() == rows_of(0)
        assert copy.last_stats.retries == 5


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
            result = pool.map_async(ids_of, scan_of_parts(da.Client(server.base_url, token=any_token), 2).tasks())
            with pytest.raises(da.RequestRejectedError) as caught:
                result.get(timeout=50)
    assert (caught.value.operation, caught.value.api_message) == ("scan_items", "no such thing")
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
