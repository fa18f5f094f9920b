"""Objects and rows from Python: dicts, the rows of tables, and loads while others search."""

from __future__ import annotations

import datetime as dt
import decimal
import os
import re
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dataaccess as da

STORE: dict[str, Any] = {"store_id": "string", "area": "number", "opened": "datetime"}
EXPECTED: list[dict[str, Any]] = [
    {"store_id": "a", "area": 250, "opened": "2024-01-31 10:00:00"},
    {"store_id": "b", "area": 0.5, "opened": None},
    {"store_id": "c", "area": None, "opened": "2024-02-01 00:00:00"},
]


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    with da.Sandbox() as sandbox:
        sandbox.declare("store", 7, STORE)
        yield sandbox


def stored(sandbox: da.Sandbox, name: str = "store", attrs: Any = STORE) -> list[dict[str, Any]]:
    body = {"itemTypeId": 7, "itemTypeName": name, "attrs": list(attrs), "filters": {"OR": [{"AND": []}]}}
    found: list[dict[str, Any]] = sandbox.client().post("/access/api/item/search", body)["data"]["data"]
    return found


def test_dicts_of_any_iterable_are_loaded(service: da.Sandbox) -> None:
    rows: list[dict[str, Any]] = [
        {"store_id": "a", "area": 250, "opened": dt.datetime(2024, 1, 31, 10)},  # noqa: DTZ001 - read as UTC
        {"opened": None, "area": 0.5, "store_id": "b"},
        {"store_id": "c", "opened": dt.date(2024, 2, 1)},
    ]
    for given in (rows, iter(rows), [types.MappingProxyType(row) for row in rows]):
        assert service.load("store", given, replace=True) == 3
        assert stored(service) == EXPECTED
        service.clear("store")


FRAME = pd.DataFrame(
    {
        "store_id": ["a", "b", "c"],
        "area": [250, 0.5, None],
        "opened": [pd.Timestamp(2024, 1, 31, 10), None, pd.Timestamp(2024, 2, 1)],
    }
)


@pytest.mark.parametrize(
    "table",
    [
        FRAME,
        FRAME.set_index("store_id"),
        FRAME.iloc[::-1],
        pa.Table.from_pandas(FRAME),
        pl.DataFrame(pa.Table.from_pandas(FRAME)),
        pa.Table.from_pandas(FRAME).to_reader(max_chunksize=1),
        pa.Table.from_pandas(FRAME).set_column(0, "store_id", pa.array(["a", "b", "c"]).dictionary_encode()),
    ],
    ids=["pandas", "index", "reversed", "pyarrow", "polars", "batches", "dictionary"],
)
def test_tables_are_loaded_by_the_names_of_their_columns(service: da.Sandbox, table: Any) -> None:
    assert service.load("store", table) == 3
    assert stored(service) == EXPECTED


# A column of one cell, and the cell as it comes back.
CELLS: list[tuple[dict[str, Any], Any]] = [
    ({"area": pa.array([-128], pa.int8())}, -128),
    ({"area": pa.array([2**63 - 1], pa.uint64())}, 2**63 - 1),
    ({"area": pa.array([0.1], pa.float64())}, 0.1),
    ({"area": pa.array([decimal.Decimal("12.50")])}, 12.5),
    ({"area": pa.array([decimal.Decimal("9007199254740993.00")])}, 9007199254740993),
    ({"area": pa.array([None], pa.int64())}, None),
    ({"opened": pa.array([dt.date(2024, 2, 29)])}, "2024-02-29 00:00:00"),
    ({"opened": pa.array([1706702400], pa.timestamp("s"))}, "2024-01-31 12:00:00"),
    ({"opened": pa.array([1706702400000], pa.timestamp("ms", "Asia/Ho_Chi_Minh"))}, "2024-01-31 12:00:00"),
    ({"opened": pa.array([1706702400 * 10**9], pa.timestamp("ns"))}, "2024-01-31 12:00:00"),
    ({"opened": pa.array([-62135596800], pa.timestamp("s"))}, "0001-01-01 00:00:00"),
]


@pytest.mark.parametrize(("column", "expected"), CELLS, ids=lambda value: str(value)[:40])
def test_cells_of_any_column_come_back_exactly(service: da.Sandbox, column: dict[str, Any], expected: Any) -> None:
    table = pa.table({"store_id": ["a"], **column})
    for frame in (table, pl.DataFrame(table)):
        assert service.load("store", frame, replace=True) == 1
        found = stored(service)[0][next(iter(column))]
        assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    ("row", "attribute", "datum"),
    [
        ({"area": np.array([True])[0]}, "area", "bool"),
        ({"area": 2**63}, "area", "9223372036854775808"),
        ({"tags": [["x"]]}, "tags", "['x']"),
        ({"opened": "2024-01-31"}, "opened", "YYYY-MM-DD HH:MM:SS"),
        ({"opened": np.datetime64("2024-01-01T00:00:00.000000001", "ns")}, "opened", "00.000000001"),
        ({"store_id": "first"}, None, "`first`"),
    ],
    ids=str,
)
def test_a_row_that_does_not_fit_is_named_and_none_is_loaded(
    service: da.Sandbox, row: dict[Any, Any], attribute: str | None, datum: str
) -> None:
    service.declare("tagged", 8, {**STORE, "is_open": "bool", "tags": "list"})
    with pytest.raises(da.SandboxError) as caught:
        service.load("tagged", [{"store_id": "first"}, {"store_id": "second"} | row])
    named = f"attribute `{attribute}`: " if attribute else "(?!attribute)"
    assert re.match(rf"object `tagged`, row 1: {named}", str(caught.value))
    assert datum in str(caught.value)
    assert service.clear("tagged") == 0, "a load that failed left rows"


def test_what_an_iterable_raises_comes_out_and_nothing_is_loaded(service: da.Sandbox) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield {"store_id": "a"}
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        service.load("store", rows())
    assert stored(service) == []

    def batches() -> Iterator[pa.RecordBatch]:
        yield from pa.table({"store_id": ["a"]}).to_batches()
        raise ValueError("early")

    schema = pa.schema([("store_id", pa.string())])
    with pytest.raises(ValueError, match="early"):
        service.load("store", pa.RecordBatchReader.from_batches(schema, batches()))
    assert stored(service) == []


@pytest.mark.fault("J11")
def test_a_string_with_a_zero_character_is_found_by_itself(service: da.Sandbox) -> None:
    service.load("store", [{"store_id": "a"}, {"store_id": "a\0b"}, {"store_id": "a\0c"}])
    found = service.client().search_items("store", ["store_id"], da.col("store_id").matches(["a\0b"]), item_type_id=7)
    assert found == [{"store_id": "a\0b"}]


TAGGED: dict[str, Any] = {"id": "string", "is_open": "bool", "tags": "list"}


@pytest.mark.parametrize(
    "make", [list, pa.Table.from_pylist, pl.DataFrame, pd.DataFrame], ids=lambda make: make.__name__
)
def test_bools_and_lists_come_back_as_they_were_loaded(make: Callable[[Any], Any]) -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "is_open": True, "tags": ["x", "y\0z", "true"]},
        {"id": "b", "is_open": False, "tags": []},
        {"id": "c", "is_open": None, "tags": None},
    ]
    with da.Sandbox() as sandbox:
        sandbox.declare("tagged", 7, TAGGED)
        assert sandbox.load("tagged", make(rows)) == 3
        assert stored(sandbox, "tagged", TAGGED) == rows


def test_a_stop_ends_a_load(service: da.Sandbox) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield {"store_id": "a"}
        service.declare("shop", 8, STORE)
        assert stored(service) == []
        service.stop()
        yield {"store_id": "b"}
        pytest.fail("the load goes on")

    with pytest.raises(da.SandboxError):
        service.load("store", rows())
    with pytest.raises(da.SandboxError):
        service.declare("shop", 8, STORE)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.timeout(40)
def test_ctrl_c_ends_a_load_whose_rows_do_not_come(service: da.Sandbox) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        yield {"store_id": "1"}
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)

    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        service.load("store", rows())
    assert time.monotonic() - started < 15
    assert stored(service) == []
