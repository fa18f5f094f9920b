"""What a scan and its rows show: the plan, the grid of a table, rows one by one; and values with names."""

from __future__ import annotations

import asyncio
import datetime as dt
import sys
import threading
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.arguments import about
from support.raw_server import always, serving
from support.streams import response_of, scan_of

import dataaccess as da
from dataaccess.types import Schema

LIST = pa.list_(pa.int8())
TYPES: list[Any] = [
    {"s": str, "i": int, "f": float, "b": bool, "t": dt.datetime, "j": dict},
    {"s": pl.String, "i": pl.Int64, "f": pl.Float64, "b": pl.Boolean, "t": pl.Datetime("us"), "j": pl.List(pl.Int64)},
    pl.Schema(
        {
            "s": pl.String(),
            "i": pl.Int64(),
            "f": pl.Float64(),
            "b": pl.Boolean(),
            "t": pl.Datetime(),
            "j": pl.Struct([]),
        }
    ),
    {
        "s": pa.string(),
        "i": pa.int64(),
        "f": pa.float64(),
        "b": pa.bool_(),
        "t": pa.timestamp("us"),
        "j": pa.list_(pa.int8()),
    },
    pa.schema(
        [("s", pa.large_string()), ("i", pa.int64()), ("f", pa.float64()), ("b", pa.bool_()), ("t", pa.timestamp("s"))]
    ),
]


# As a type checker sees them.
LIBRARIES: Schema = {"a": pl.Int64, "b": pl.Datetime("us"), "c": "Int64", "d": np.dtype("int64"), "e": pd.Int64Dtype()}

# What libraries and Python call the types.
ALIASES: dict[str, list[Any]] = {
    "string": ["str", "String", "large_string", "string"],
    "int64": ["int", "Int64", pd.Int64Dtype(), np.dtype("int64"), np.int64],
    "float64": ["float", "Float64", "double", pd.Float64Dtype(), np.float64],
    "bool": ["boolean", "Boolean", "bool_", pd.BooleanDtype()],
    "timestamp": ["datetime", "Datetime", "datetime64[ns]", "timestamp[us]", np.dtype("datetime64[us]")],
    "json": ["dict", "list", "struct", pa.struct([("a", pa.int64())]), pl.List(pl.Int64)],
}


@pytest.mark.parametrize(
    ("name", "given"), [(name, given) for name, all_given in ALIASES.items() for given in all_given]
)
def test_a_type_has_one_name_and_those_of_libraries(connect: Any, name: str, given: Any) -> None:
    with serving(always(response_of([{"a": None}]))) as server:
        assert scan_of(connect(server.base_url), ["a"], schema={"a": given}).collect().schema == {"a": name}


def test_a_schema_mixes_types_of_all_libraries(connect: Any) -> None:
    with serving(always(response_of([dict.fromkeys(LIBRARIES)]))) as server:
        table = scan_of(connect(server.base_url), list(LIBRARIES), schema=LIBRARIES).collect()
    assert table.schema == {**dict.fromkeys("acde", "int64"), "b": "timestamp"}


@pytest.mark.parametrize("given", ["Int32", "int32", np.int32, pa.int32(), pl.UInt64, "text", "name", "", 5, object()])
def test_a_type_that_columns_do_not_have_is_refused(client: Any, given: Any) -> None:
    with pytest.raises(da.ValidationError, match="string, int64, float64,", check=about('schema["a"]')):
        scan_of(client, ["a"], schema={"a": given})


@pytest.mark.parametrize("types", TYPES, ids=["python", "polars", "a polars schema", "pyarrow", "a pyarrow schema"])
def test_schema_takes_types_of_python_polars_and_pyarrow(connect: Any, types: Any) -> None:
    names = {"s": "string", "i": "int64", "f": "float64", "b": "bool", "t": "timestamp", "j": "json"}
    with serving(always(response_of([dict.fromkeys(names)]))) as server:
        table = scan_of(connect(server.base_url), list(names), schema=types).collect()
    given = types.names if isinstance(types, pa.Schema) else list(types)
    assert table.schema == {name: kind if name in given else "string" for name, kind in names.items()}


def test_explain_returns_the_plan_and_sends_nothing(connect: Any, sandbox: da.Sandbox) -> None:
    client = connect(sandbox, timezone="Europe/Berlin")
    sent = len(sandbox.requests)
    days = da.days("2024-01-01", "2024-04-01")
    codes = client.scan_codes(
        ["id", "pool_id", "code_status"],
        allocated_time=days,
        code_status=["used", da.CodeStatus.SENT],
        limit=2,
        schema={"id": "json", "pool_id": "double"},
        decode_status=True,
    )
    assert (
        codes.explain()
        == """promotion_code (-100) in 91 requests, days and times in Europe/Berlin (records in UTC)
service filters: code_status matches USED (4), SENT (3)
                 allocated_time equals DAY of 2024-01-01 … 2024-03-31, one per request
columns:         id json, pool_id float64, code_status string
client cuts:     2 rows
not checked:     the day of the rows: allocated_time is not in attrs"""
    )
    for condition, shown in [
        (da.since("2024-07-01"), "after_date DAY of 2024-06-30 23:59:59.999 (since 2024-07-01)"),
        (da.after("2024-07-01"), "after_date DAY of 2024-07-01 23:59:59.999 (since 2024-07-02)"),
        (da.before("2024-07-01T10:00Z"), "before_date DAY of 2024-07-01"),
        (da.until("2024-07-01"), "before_date DAY of 2024-07-02"),
        (da.op("before_date", "2024-07-01T10:00Z", unit="DAY"), "before_date DAY of 2024-07-01 12:00:00"),
    ]:
        plan = client.scan_codes(["last_used_time"], allocated_time=condition).explain()
        assert f"allocated_time {shown}\n" in plan
        assert plan.endswith("last_used_time timestamp")
    ids = [f"c-{number}" for number in range(2_500)]
    where = da.col("customer_id").matches(ids) & da.col("name\x1b[2J").equals("x\n")
    items = client.scan_items("customer", "name", where).explain()
    assert items.startswith("customer (-1003) in 3 requests\n")
    assert "customer_id matches c-0, c-1, c-2, c-3, c-4 and 985 more … c-1980, " in items
    assert "\x1b" not in items
    assert items.endswith("columns:         name string")
    groups = [da.col("age").op("greater_than", number) for number in range(12)]
    either = groups[0]
    for group in groups[1:]:
        either |= group
    assert "                 or 2 more groups\n" in client.scan_items("customer", "name", either).explain()
    assert "service filters: none\n" in client.scan_items("customer", ["name"]).explain()
    assert len(sandbox.requests) == sent


def test_a_repr_names_the_object_of_a_search_of_items(connect: Any) -> None:
    client = connect("https://cdp.example.com")
    client = getattr(client, "client", client)
    where = da.col("customer_id").equals("x")
    assert "scan_items of customer: customer_id; " in repr(client.scan_items("customer", ["customer_id"], where))
    assert "scan_codes of id; " in repr(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")))


@pytest.mark.both_clients
def test_a_scan_in_the_place_of_rows_says_what_to_write(client: Any) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    raw = getattr(scan, "client", scan)
    for use in (pd.DataFrame, list, len):
        with pytest.raises(TypeError, match=r"scan\.to_pandas\(\)" if use is not len else "len"):
            use(raw)


def test_a_printed_table_is_a_grid_of_ten_rows_with_types(connect: Any) -> None:
    rows: list[dict[str, Any]] = [{"id": f"c-{n}", "n": n, "t": "2024-01-15 10:00:00"} for n in range(11)]
    with serving(
        always(response_of([{**rows[0], "id": "x" * 99}, {**rows[1], "n": None, "id": "a\n\x1b[31m"}, *rows[2:]]))
    ) as server:
        scan = scan_of(connect(server.base_url), ["id", "n", "t"], schema={"t": "timestamp"})
        table = scan.collect()
    lines = str(table).splitlines()
    assert lines[:5] == [
        "id                                    n  t",
        "string                            int64  timestamp",
        "--------------------------------  -----  -------------------",
        "x" * 31 + "…      0  2024-01-15 10:00:00",
        r"a\n\x1b[31m                              2024-01-15 10:00:00",
    ]
    assert (len(lines), lines[-2]) == (15, "… 1 more row")
    assert lines[-1].startswith("11 rows, 3 columns; ")
    assert repr(table) == "Table(11 rows, 3 columns: id, n, t)"


def test_a_wide_table_counts_the_columns_it_leaves_out(connect: Any) -> None:
    names = [f"c{number}" for number in range(15)]
    with serving(always(response_of([dict.fromkeys(names, 1)]))) as server:
        lines = str(scan_of(connect(server.base_url), names).collect()).splitlines()
    assert lines[0].split() == names[:12]
    assert lines[-2] == "… 3 more columns"


def test_rows_come_one_by_one_as_columns_have_them(sandbox: da.Sandbox) -> None:
    scan = sandbox.client().scan_codes(allocated_time=da.on("2024-01-15"))
    assert list(scan.iter_rows()) == scan.collect().to_pylist()
    rows = scan.iter_rows()
    assert isinstance(next(rows)["allocated_time"], dt.datetime)
    rows.close()

    async def main() -> list[Any]:
        client = sandbox.async_client()
        return [row async for row in client.scan_codes(allocated_time=da.on("2024-01-15")).iter_rows()]

    assert asyncio.run(main()) == scan.collect().to_pylist()


def test_rows_of_an_asynchronous_scan_are_made_outside_of_the_event_loop(sandbox: da.Sandbox) -> None:
    made: list[str] = []

    def note(frame: Any, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name == "to_pylist":
            made.append(threading.current_thread().name)

    async def main() -> int:
        scan = sandbox.async_client().scan_codes(allocated_time=da.on("2024-01-15"))
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


@pytest.mark.parametrize("kind", [da.CodeStatus, da.AudienceType])
def test_values_with_names_are_sent_as_their_numbers(client: Any, kind: Any) -> None:
    name = {da.CodeStatus: "code_status", da.AudienceType: "audience_type"}[kind]
    more = {"allocated_audience": "x"} if kind is da.AudienceType else {}
    for given, sent in [(list(kind), list(map(int, kind))), (next(iter(kind)), [int(next(iter(kind)))])]:
        body = client.validate_codes(allocated_time=da.on("2024-01-15"), **{name: given}, **more)
        (condition,) = [one for one in body["filters"]["OR"][0]["AND"] if one["column"] == name]
        assert condition["value"] == sent
    assert {type(number) for number in condition["value"]} == {int}


def test_a_client_knows_the_ids_of_its_business_objects(connect: Any) -> None:
    with da.Sandbox() as service:
        service.declare("store", 7, {"store_id": "string"})
        service.load("store", [{"store_id": "s-1"}])
        client = connect(service, item_types={"store": 7})
        where = da.col("store_id").equals("s-1")
        assert client.search_items("store", "store_id", where) == [{"store_id": "s-1"}]
        assert client.scan_items("store", "store_id", where).to_dicts() == [{"store_id": "s-1"}]
        assert client.validate_items("store", "store_id", where)["itemTypeId"] == 7
        assert client.validate_items("store", "store_id", where, item_type_id=8)["itemTypeId"] == 8
        assert client.with_options(timeout=9).item_types == {"store": 7}
        with pytest.raises(da.ValidationError, check=about("item_type_id")):
            client.with_options(item_types=None).validate_items("store", "store_id", where)


@pytest.mark.parametrize(
    "given", [{"customer": 5}, {"promotion_code": 1}, {"store": "7"}, {"store": True}, {3: 3}, [("store", 7)]]
)
def test_ids_that_cannot_be_are_refused(given: Any) -> None:
    with pytest.raises(da.ConfigError, match=r"item_types"):
        da.Client("https://cdp.example.com", token="t", item_types=given)
