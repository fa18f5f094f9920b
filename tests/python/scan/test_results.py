"""Every output format of a scan, compared with the loaded rows: types, values, nulls."""

from __future__ import annotations

import copy
import datetime as dt
import pickle
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.arguments import about
from support.raw_server import always, serving
from support.streams import response_of, scan_of

import dataaccess as da

BIG = 2**63 - 1
CODES: list[dict[str, Any]] = [
    {
        "id": "c-1",
        "name": 'Größe "夏" \\ \u2028 🎁',
        "pool_id": BIG,
        "date_created": "2023-12-01 08:00:00",
        "allocated_time": "2024-01-15 23:59:59",
        "allocated_audience": "holder-1",
        "audience_type": -1003,
        "code_status": 4,
        "last_used_source": "shop",
        "last_used_time": "2024-01-16 00:00:00",
        "channel_id": 12,
    },
    {
        "id": "c-2",
        "name": "",
        "pool_id": -1,
        "date_created": "1969-12-31 23:59:59",
        "allocated_time": "2024-01-15 00:00:00",
        "allocated_audience": "holder-2",
        "audience_type": -1007,
        "code_status": 3,
        "last_used_source": None,
        "last_used_time": None,
        "channel_id": None,
    },
]
NAMES: Any = list(CODES[0])
TEXTS = {"id", "name", "allocated_audience", "last_used_source", "channel_id"}
TIMES = {"date_created", "allocated_time", "last_used_time"}


def time_of(text: str) -> dt.datetime:
    return dt.datetime.strptime(text, "%Y-%m-%d %H:%M:%S")  # noqa: DTZ007 - the columns have no zone


def with_times(row: dict[str, Any]) -> dict[str, Any]:
    return {name: time_of(value) if name in TIMES and value else value for name, value in row.items()}


def expected(row: dict[str, Any]) -> dict[str, Any]:
    """A row as columns have it: times read, the untyped `channel_id` as text."""
    return {**with_times(row), "channel_id": None if row["channel_id"] is None else str(row["channel_id"])}


def fetched(query: str, **tables: Any) -> list[Any]:
    """What DuckDB finds in tables, each known by its name."""
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.execute(query).fetchall()


TYPED = [expected(row) for row in CODES]


@pytest.fixture(scope="module")
def service() -> Iterator[da.Sandbox]:
    """A service with codes that have every kind of value."""
    with da.Sandbox() as sandbox:
        sandbox.load("promotion_code", CODES)
        yield sandbox


@pytest.fixture
def scan(connect: Any, service: da.Sandbox) -> Any:
    """A scan of all of them, by either client."""
    return connect(service).scan_codes(NAMES, allocated_time=da.on("2024-01-15"))


def test_dicts_are_the_values_of_the_wire(scan: Any) -> None:
    assert scan.to_dicts() == CODES


def test_arrow_has_the_fixed_types(scan: Any) -> None:
    table = scan.to_arrow()
    types = {name: str(kind) for name, kind in zip(table.column_names, table.schema.types, strict=True)}
    assert types == {
        name: "timestamp[us]" if name in TIMES else "string" if name in TEXTS else "int64" for name in NAMES
    }
    assert table.to_pylist() == TYPED


def test_pandas_has_types_with_room_for_what_is_missing(scan: Any) -> None:
    frame = scan.to_pandas()
    types = {name: str(kind) for name, kind in frame.dtypes.items()}
    text = "str" if int(pd.__version__.partition(".")[0]) > 2 else "string"
    assert types == {name: "datetime64[us]" if name in TIMES else text if name in TEXTS else "Int64" for name in NAMES}
    assert text == "string" or frame["id"].dtype == pd.Series(["a"]).dtype
    assert frame.to_dict("records")[0] == TYPED[0]
    second = frame.iloc[1]
    assert second["pool_id"] == -1
    assert second["name"] == ""
    assert second[["last_used_source", "last_used_time", "channel_id"]].isna().all()


@pytest.mark.parametrize(
    ("backend", "number", "text"),
    [("numpy_nullable", "Int64", "string"), ("pyarrow", "int64[pyarrow]", "string[pyarrow]")],
)
def test_pandas_takes_a_dtype_backend(scan: Any, backend: Any, number: str, text: str) -> None:
    frame = scan.to_pandas(dtype_backend=backend)
    assert str(frame["pool_id"].dtype) == number
    assert str(frame["id"].dtype) == text
    assert frame["pool_id"].tolist() == [BIG, -1]
    assert frame["last_used_source"].isna().tolist() == [False, True]


def test_polars_has_its_own_types(scan: Any) -> None:
    frame = scan.to_polars()
    kinds = {name: pl.Datetime("us") if name in TIMES else pl.String if name in TEXTS else pl.Int64 for name in NAMES}
    assert frame.schema == pl.Schema(kinds)
    assert frame.to_dicts() == TYPED


def test_a_table_is_read_again_and_again(scan: Any, service: da.Sandbox) -> None:
    found = scan.collect()
    service.clear_requests()
    for _ in range(2):
        assert pa.table(found).to_pylist() == TYPED
        assert pl.DataFrame(found).to_dicts() == TYPED
        assert fetched("from found", found=found) == [tuple(row.values()) for row in TYPED]
    assert found.to_arrow().schema == pa.schema(found)
    assert found.to_pandas().equals(scan.to_pandas())
    assert found.to_polars().equals(scan.to_polars())
    assert (found.num_rows, len(found), found.column_names) == (2, 2, NAMES)
    assert found.stats.rows == 2
    assert repr(found).startswith("Table(2 rows, 11 columns: id, name, ")
    assert found.shape == (2, 11)
    assert len(service.requests) == 2


def test_rows_of_columns_are_plain_values(scan: Any) -> None:
    table = scan.collect()
    assert table.to_pylist() == TYPED
    assert [row for batch in scan.batches() for row in batch.to_pylist()] == TYPED


def test_a_batch_has_every_form_too(scan: Any) -> None:
    (batch,) = scan.batches()
    assert (batch.num_rows, len(batch), batch.column_names) == (2, 2, NAMES)
    assert batch.to_arrow().to_pylist() == TYPED
    assert batch.to_pandas().equals(scan.to_pandas())
    assert batch.to_polars().to_dicts() == TYPED
    assert pa.record_batch(batch).to_pylist() == TYPED
    assert pa.schema(batch) == batch.to_arrow().schema
    assert repr(batch).startswith("Batch(2 rows, 11 columns: id, name, ")
    assert batch.shape == (2, 11)
    assert batch.schema == scan.collect().schema


def test_head_gives_the_first_rows(scan: Any) -> None:
    assert scan.head(1).to_arrow().to_pylist() == TYPED[:1]
    assert scan.head().to_arrow().to_pylist() == TYPED
    assert scan.head(np.int64(2)).num_rows == 2


@pytest.mark.parametrize("bad", [-1, 1.0, False, "1", None])
def test_a_head_of_no_number_is_refused(scan: Any, bad: Any) -> None:
    with pytest.raises(da.ValidationError, check=about("n")):
        scan.head(bad)


def test_a_head_of_nothing_has_the_types(scan: Any, connect: Any) -> None:
    none = scan.head(0)
    assert (none.shape, none.stats.rows, none.to_pylist()) == ((0, 11), 0, [])
    assert none.schema == scan.collect().schema
    assert none.to_pandas().empty
    for values, kind in [([1.5, 2], "float64"), ([], "string")]:
        with serving(always(response_of([{"a": value} for value in values]))) as server:
            assert scan_of(connect(server.base_url), ["a"]).head(0).schema == {"a": kind}


def test_the_schema_of_a_table_is_one_to_ask_with(connect: Any) -> None:
    row = {"i": 1, "f": 1.5, "b": True, "s": "x", "t": "2024-01-15 10:00:00", "j": [1]}
    with serving(always(response_of([row]))) as server:
        client = connect(server.base_url)
        first = scan_of(client, list(row), schema={"t": "timestamp"}).collect()
        reported = {"i": "int64", "f": "float64", "b": "bool", "s": "string", "t": "timestamp", "j": "json"}
        assert first.schema == reported
        again = scan_of(client, list(row), schema=first.schema).collect()
    assert (again.schema, again.to_pylist()) == (reported, first.to_pylist())


def test_many_columns_are_shown_in_short(connect: Any) -> None:
    names = [f"column_{number}" for number in range(200)]
    with serving(always(response_of([dict.fromkeys(names, 1)] * 1_000))) as server:
        scan = scan_of(connect(server.base_url), names)
        shown = repr(scan.collect())
        assert shown.startswith("Table(1,000 rows, 200 columns: column_0, column_1, ")
        assert shown.endswith("column_11, and 188 more)")
        assert len(repr(getattr(scan, "client", scan))) < 300


def test_rows_in_columns_do_not_pickle_and_say_what_does(scan: Any) -> None:
    found, (batch,) = scan.collect(), scan.batches()
    for kept, name in [(found, "Table"), (batch, "Batch")]:
        with pytest.raises(TypeError, match=rf"\b{name}\b.*to_arrow"):
            pickle.dumps(kept)
    assert pickle.loads(pickle.dumps(found.to_arrow())).to_pylist() == TYPED
    assert copy.copy(found).to_pylist() == found.to_pylist()
    with pytest.raises(TypeError, match="scan"):
        pickle.dumps(getattr(scan.batches(), "client", None) or scan.batches())


def test_nothing_found_has_columns_all_the_same(connect: Any, service: da.Sandbox) -> None:
    scan = connect(service).scan_codes(NAMES, allocated_time=da.on("2019-01-01"))
    assert scan.to_dicts() == []
    assert scan.to_arrow().schema == pa.schema(scan.collect())
    assert scan.to_arrow().num_rows == 0
    assert str(scan.to_pandas()["pool_id"].dtype) == "Int64"
    assert scan.to_polars().shape == (0, len(NAMES))
    assert list(scan.batches()) == []
    assert scan.last_stats.empty_shape == "data.data []"


def test_a_limit_holds_in_every_form(connect: Any, sandbox: da.Sandbox) -> None:
    client = connect(sandbox)
    rows = client.search_codes(["id"], allocated_time=da.after("2024-01-01"))
    scan = client.scan_codes(["id"], allocated_time=da.after("2024-01-01"), limit=1_500)
    assert scan.to_dicts() == rows[:1_500]
    assert scan.collect().to_pylist() == rows[:1_500]
    assert [row for batch in scan.batches(max_rows=1_000) for row in batch.to_pylist()] == rows[:1_500]
    assert scan.last_stats.rows == 1_500
    assert scan.head(2_000).num_rows == 1_500


def test_all_forms_of_many_rows_are_the_same(client: Any) -> None:
    rows = client.search_codes(allocated_time=da.after("2024-01-01"))
    typed = [with_times(row) for row in rows]
    scan = client.scan_codes(allocated_time=da.after("2024-01-01"))
    assert scan.to_dicts() == rows
    assert scan.collect().to_pylist() == scan.to_arrow().to_pylist() == scan.to_polars().to_dicts() == typed
    assert [row for batch in scan.batches(max_rows=700) for row in batch.to_pylist()] == typed


class TestOtherLibraries:
    """A scan of the synchronous client is read by other libraries directly."""

    @pytest.fixture
    def scan(self, service: da.Sandbox) -> da.Scan:
        return service.client().scan_codes(NAMES, allocated_time=da.on("2024-01-15"))

    def test_pyarrow(self, scan: da.Scan) -> None:
        assert pa.table(scan).to_pylist() == TYPED
        assert pa.schema(scan) == scan.to_arrow().schema
        with pa.RecordBatchReader.from_stream(scan) as reader:
            assert [row for batch in reader for row in batch.to_pylist()] == TYPED

    def test_polars(self, scan: da.Scan) -> None:
        assert pl.DataFrame(scan).to_dicts() == TYPED

    def test_duckdb(self, scan: da.Scan) -> None:
        assert fetched("from scan", scan=scan) == [tuple(row.values()) for row in TYPED]
        assert fetched("select max(pool_id) from scan", scan=scan) == [(BIG,)]

    def test_none_can_await(self, service: da.Sandbox) -> None:
        scan = service.async_client().scan_codes(NAMES, allocated_time=da.on("2024-01-15"))
        for take in (pl.DataFrame, pa.table, pa.RecordBatchReader.from_stream):
            with pytest.raises(TypeError, match=r"await scan\.collect\(\)"):
                take(scan)
        with da.Sandbox() as other, pytest.raises(TypeError, match=r"await scan\.collect\(\)"):
            other.load("promotion_code", scan)

    @pytest.mark.skipif(not hasattr(pd.DataFrame, "from_arrow"), reason="pandas 3 reads Arrow streams")
    def test_pandas(self, scan: da.Scan) -> None:
        from_arrow: Any = vars(pd.DataFrame)["from_arrow"].__get__(None, pd.DataFrame)
        assert from_arrow(scan)["pool_id"].tolist() == [BIG, -1]
