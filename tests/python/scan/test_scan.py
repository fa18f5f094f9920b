"""A scan in hand: what it asks for, what it says of itself, how it travels, and what it warns of."""

from __future__ import annotations

import builtins
import pickle
import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from support.arguments import about
from support.raw_server import always, http, serving
from support.streams import response_of, scan_of, search_of

import dataaccess as da
from dataaccess._core import checks

SEARCH = "/access/api/item/search"


def test_explain_shows_the_request_and_sends_nothing(connect: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        client = connect(service)
        scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"), code_status="used", limit=3)
        (request,) = scan.requests()
        body = client.validate_codes(["id"], allocated_time=da.on("2024-01-15"), code_status="used")
        assert request == {"method": "POST", "url": service.base_url + SEARCH, "body": body}
        assert service.requests == []
        scan.to_dicts()
        assert service.requests[0].body == body


def test_items_are_explained_as_well(client: Any) -> None:
    where = da.col("customer_id").matches(["a"]) | da.col("name").equals("b")
    client = client.with_options(attrs_format="string")
    scan = client.scan_items("customer", ["customer_id"], where)
    assert scan.requests()[0]["body"] == client.validate_items("customer", ["customer_id"], where)


def test_a_bad_argument_is_reported_when_the_scan_is_made(client: Any) -> None:
    with pytest.raises(da.ValidationError, check=about("code_status")):
        client.scan_codes(allocated_time=da.on("2024-01-15"), code_status=7)
    with pytest.raises(da.ValidationError, check=about("limit")):
        client.scan_items("customer", ["name"], da.col("name").equals("x"), limit=0)


def test_promotion_codes_keep_their_types_in_either_scan(client: Any) -> None:
    scan = client.scan_items("promotion_code", ["id", "pool_id"], da.col("allocated_time").on("2024-01-15"))
    other = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"))
    assert scan.to_arrow().equals(other.to_arrow())


def test_each_use_asks_again_and_arguments_are_those_of_the_start(connect: Any) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        statuses = ["used"]
        scan = connect(service).scan_codes(
            (name for name in ["id", "code_status"]), allocated_time=da.on("2024-01-15"), code_status=statuses
        )
        statuses.append("sent")
        first = scan.to_dicts()
        assert {row["code_status"] for row in first} == {4}
        assert scan.to_dicts() == first
        assert scan.collect().to_pylist() == first
        assert len(service.requests) == 3


def test_several_values_may_be_any_iterable(client: Any) -> None:
    scan = client.scan_codes(["code_status"], allocated_time=da.on("2024-01-15"), code_status=np.array([4]))
    assert {row["code_status"] for row in scan.to_dicts()} == {4}


def test_a_scan_travels_with_its_client_and_without_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    with da.Sandbox.demo(until="2024-02-29") as service:
        token = service.issue_token()
        monkeypatch.setenv("DATAACCESS_TOKEN", token)
        scan = da.Client(service.base_url).scan_codes(
            iter(("id", "pool_id")),
            allocated_time=da.on("2024-01-15"),
            code_status={4},
            limit=3,
            schema={"pool_id": "string"},
        )
        packed = pickle.dumps(scan)
        assert token.encode() not in packed
        copy = pickle.loads(packed)
        assert copy.requests() == scan.requests()
        assert copy.to_arrow().equals(scan.to_arrow())
        where = da.col("customer_id").equals("demo-customer-0001")
        other = da.AsyncClient(service.base_url).scan_items("customer", ["customer_id"], where)
        assert pickle.loads(pickle.dumps(other)).requests() == other.requests()
        with pytest.raises(TypeError, match="DATAACCESS_TOKEN"):
            pickle.dumps(service.client().scan_codes(allocated_time=da.on("2024-01-15")))


@pytest.mark.both_clients
def test_it_shows_what_it_asks_for(connect: Any, sandbox: da.Sandbox) -> None:
    scan = connect(sandbox).scan_codes(["id", "name"], allocated_time=da.on("2024-01-15"))
    kind, shown = ("AsyncScan", repr(scan.client)) if hasattr(scan, "client") else ("Scan", repr(scan))
    assert shown.startswith(f"{kind}(scan_codes of id, name; ")
    assert scan.column_names == ["id", "name"]


def test_stats_are_those_of_the_last_use(connect: Any) -> None:
    records = [{"n": 1, "text": "a", "more": 1}, {"n": 2, "other": [], "more": None}]
    with serving(always(response_of(records))) as server:
        scan = scan_of(connect(server.base_url))
        assert not scan.last_stats
        for use in (scan.to_dicts, scan.collect, lambda: list(scan.batches())):
            use()
            stats = scan.last_stats
            assert (stats.rows, stats.attempts, stats.retries, stats.empty_shape) == (2, 1, 0, None)
            assert stats.bytes == len(response_of(records).partition(b"\r\n\r\n")[2])
            assert stats.extra_keys == {"more": 2, "other": 1}
            assert stats.absent == []
            assert 0 < stats.seconds < 30


def test_rows_keep_the_keys_that_columns_do_not(connect: Any) -> None:
    with serving(always(response_of([{"n": 1, "text": "a", "more": {"k": 1}}]))) as server:
        scan = scan_of(connect(server.base_url))
        assert scan.to_dicts() == [{"n": 1, "text": "a", "more": {"k": 1}}]
        assert scan.collect().column_names == ["n", "text"]


@pytest.mark.parametrize("data", [{}, None, {"data": None}, {"data": {}}, []])
def test_the_shape_of_an_empty_response_is_reported(connect: Any, data: Any) -> None:
    with serving(always(http({"code": 200, "message": "ok", "data": data}))) as server:
        scan = scan_of(connect(server.base_url))
        assert scan.collect().num_rows == 0
        assert scan.last_stats.empty_shape.startswith("data")


def uses_of(scan: Any) -> Any:
    return [scan.to_dicts, scan.collect, scan.to_pandas, lambda: list(scan.batches())]


@pytest.mark.both_clients
def test_an_absent_attribute_is_warned_of_in_every_use(connect: Any) -> None:
    with serving(always(response_of([{"n": 1}, {"n": 2}]))) as server:
        scan = scan_of(connect(server.base_url))
        for use in uses_of(scan):
            with pytest.warns(da.AbsentAttributeWarning, match="'text'") as caught:
                use()
            assert [warning.filename for warning in caught] == [__file__] or hasattr(scan, "client")
            assert len(caught) == 1
        assert scan.last_stats.absent == ["text"]
        with pytest.warns(da.AbsentAttributeWarning, match="'text'"):
            search_of(connect(server.base_url))


def test_a_null_is_not_absent_and_nothing_is_absent_from_nothing(connect: Any) -> None:
    for records in ([{"n": 1, "text": None}], []):
        with serving(always(response_of(records))) as server:
            for use in uses_of(scan_of(connect(server.base_url))):
                use()


def test_nothing_is_absent_from_a_response_that_was_cut(connect: Any) -> None:
    with serving(always(response_of([{"n": 1}, {"n": 2, "text": "a"}]))) as server:
        client = connect(server.base_url)
        scan = scan_of(client)
        assert scan.head(1).stats.absent == []
        for use in uses_of(scan_of(client, limit=1)):
            use()
        assert client.search_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7, limit=1)
        assert scan.collect().stats.absent == []
    with serving(always(response_of([{"n": 1}, {"n": 2}]))) as server:
        for use in [scan_of(connect(server.base_url)).head, *uses_of(scan_of(connect(server.base_url), limit=3))]:
            with pytest.warns(da.AbsentAttributeWarning, match="'text'"):
                use()


def test_another_total_than_the_records_is_warned_of(connect: Any) -> None:
    records = [{"n": 1, "text": "a"}] * 2
    with serving(always(response_of(records, meta={"total": 5}))) as server:
        scan = scan_of(connect(server.base_url))
        for use in uses_of(scan):
            with pytest.warns(da.IncompleteWarning, match=r"\b5 .*\b2\b"):
                use()
        assert scan.head(1).num_rows == 1
    with serving(always(response_of(records, meta={"total": 2}))) as server:
        assert scan_of(connect(server.base_url)).collect().num_rows == 2


def stored(zone: str) -> da.Sandbox:
    """A service that cuts its days in another zone, with a code in each quarter of an hour of some days."""
    service = da.Sandbox(switches={"day_zone": zone})
    hours = [f"2024-01-{day} {hour:02}" for day in (14, 15, 16) for hour in range(24)]
    times = [f"{hour}:{minute:02}:00" for hour in hours for minute in (0, 15, 30, 45)]
    service.load(
        "promotion_code",
        [{"id": f"c-{time}", "name": "n", "pool_id": 1, "allocated_time": time, "code_status": 3} for time in times],
    )
    return service


@pytest.mark.parametrize(
    ("zone", "hint"),
    [("Asia/Ho_Chi_Minh", "UTC+07:00"), ("America/New_York", "UTC-05:00"), ("Asia/Kolkata", "+05:30")],
)
def test_rows_of_another_day_are_warned_of_with_the_zone_that_explains_them(connect: Any, zone: str, hint: str) -> None:
    with stored(zone) as service:
        client = connect(service)
        scan = client.scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-15"))
        for use in uses_of(scan):
            with pytest.warns(da.StrayDayWarning, match=re.escape(hint)) as caught:
                use()
            assert len(caught) == 1
        same = connect(service, timezone=zone)
        assert same.scan_codes(["allocated_time"], allocated_time=da.on("2024-01-15")).collect().num_rows == 96


def test_a_stray_day_is_seen_only_where_the_time_was_asked_for(connect: Any) -> None:
    with stored("Asia/Kolkata") as service:
        scan = connect(service).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        for use in uses_of(scan):
            use()


def test_days_that_fit_are_not_warned_of(client: Any) -> None:
    for condition in (da.on("2024-01-15"), da.after("2024-02-01"), da.op("equals", "2024-01-15", unit="DAY")):
        assert client.scan_codes(["allocated_time"], allocated_time=condition).collect().num_rows
    assert client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).collect().num_rows


def test_without_its_package_no_request_is_sent(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    really = builtins.__import__

    def without(name: str, *arguments: Any) -> Any:
        if name.partition(".")[0] in {"pandas", "polars", "pyarrow"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return really(name, *arguments)

    def missing(name: str) -> Any:
        return without(name)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(checks, "import_module", missing)
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for use in (scan.to_pandas, scan.to_polars, scan.to_arrow):
        with pytest.raises(ImportError):
            use()
    assert scan.last_stats is None, "a request was sent for a form that cannot be made"
    assert scan.collect().num_rows == len(scan.to_dicts())


def test_an_unknown_dtype_backend_is_refused_before_anything_is_sent(client: Any) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    with pytest.raises(ValueError, match="dtype_backend"):
        scan.to_pandas(dtype_backend="numpy")
    assert scan.last_stats is None


def test_scans_of_the_module_use_the_environment(monkeypatch: pytest.MonkeyPatch, sandbox: da.Sandbox) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
    scan = da.scan_codes(["id"], allocated_time=da.on("2024-01-15"), schema={"id": "json"})
    assert scan.to_dicts() == da.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    where = da.col("customer_id").equals("demo-customer-0001")
    assert da.scan_items("customer", ["customer_id"], where).collect().num_rows == 1


@pytest.mark.both_clients
def test_using_a_closed_client_is_refused(connect: Any, sandbox: da.Sandbox) -> None:
    client = connect(sandbox)
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    client.close()
    for use in uses_of(scan):
        with pytest.raises(da.ClientClosedError):
            use()


def test_converting_imports_no_more_than_it_needs() -> None:
    code = (
        "import sys, warnings; warnings.simplefilter('ignore'); import dataaccess as da\n"
        "scan = da.Client('sandbox:demo?until=2024-02-29').scan_codes(['id'], allocated_time=da.on('2024-01-15'))\n"
        "assert scan.collect().to_pylist() == scan.to_dicts()\n"
        "assert next(scan.batches()).num_rows\n"
        "heavy = {'pandas', 'numpy', 'polars', 'pyarrow', 'asyncio'} & set(sys.modules); assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
