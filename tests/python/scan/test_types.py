"""Types of columns: values of JSON in each type (J2, J3), what `schema=` takes, and columns of promotion codes."""

from __future__ import annotations

import datetime as dt
import json
import pickle
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.arguments import about
from support.raw_server import always, http, in_turn, serving
from support.streams import client_of, column, in_parts, response_of, scan_of, whole

import dataaccess as da
from dataaccess._types import AttributeInfo

TYPES = ["string", "int64", "float64", "bool", "timestamp", "json", None]
"""The words of `schema=`, and none: then the type is inferred."""
ARROW = ["string", "int64", "double", "bool", "timestamp[us]", "string"]

no = kinds.Record
DATE, NO_DATE = "2024-01-15 10:00:00", "2024-02-30 10:00:00"
TIME = dt.datetime(2024, 1, 15, 10)  # noqa: DTZ001 - columns of time have no zone

# The value on the wire, and what it is as string, int64, float64, bool, timestamp, json, inferred. The core tests more.
CELLS: dict[str, list[Any]] = {
    "null": [None, None, None, None, None, None, None],
    "": [None, None, None, None, None, None, None],
    "true": ["true", no, no, True, no, "true", True],
    "7": ["7", 7, 7.0, no, no, "7", 7],
    "-0": ["-0", 0, -0.0, no, no, "-0", -0.0],
    "12.50e1": ["12.50e1", 125, 125.0, no, no, "12.50e1", 125.0],
    "0.5": ["0.5", no, 0.5, no, no, "0.5", 0.5],
    "9007199254740993": ["9007199254740993", 2**53 + 1, no, no, no, "9007199254740993", 2**53 + 1],
    "18446744073709551616": ["18446744073709551616", no, 2.0**64, no, no, *["18446744073709551616"] * 2],
    "1e-400": ["1e-400", no, no, no, no, "1e-400", "1e-400"],
    "1e400": [no, no, no, no, no, no, no],
    '"7"': ["7", no, no, no, no, '"7"', "7"],
    f'"{DATE}"': [DATE, no, no, no, TIME, f'"{DATE}"', DATE],
    f'"{NO_DATE}"': [NO_DATE, no, no, no, no, f'"{NO_DATE}"', NO_DATE],
    '{"k": 1.0, "k": -0}': ['{"k":1.0,"k":-0}', no, no, no, no, *['{"k":1.0,"k":-0}'] * 2],
}


def records(value: str) -> bytes:
    """One record that has this value, or lacks it, and one that is all null."""
    member = f',"a":{value}' if value else ""
    return http(f'{{"code":200,"data":{{"status":true,"data":[{{"n":0{member}}},{{"n":1,"a":null}}]}}}}'.encode())


def streamed(scan: Any) -> Any:
    (batch,) = scan.batches()
    return batch.to_arrow()


@pytest.mark.fault("J2", "J3")
@pytest.mark.filterwarnings("ignore::dataaccess.AbsentAttributeWarning")
@pytest.mark.parametrize("name", TYPES)
def test_each_value_is_in_each_type_of_column_what_the_table_says(connect: Any, name: Any) -> None:
    with serving(always(b"")) as server:
        client = connect(server.base_url)
        scan = scan_of(client, ["n", "a"], schema={"a": name} if name else None)
        search = partial(client.search_items, "store", ["n", "a"], da.col("n").equals("x"), item_type_id=7)
        for wire, verdicts in CELLS.items():
            server.respond = always(records(wire))
            verdict = verdicts[TYPES.index(name)]
            for use in (scan.to_arrow, partial(streamed, scan)):
                if verdict is no:
                    with pytest.raises(kinds.Record) as caught:
                        use()
                    assert (caught.value.row, caught.value.column, caught.value.attempts) == (0, "a", 1), (wire, name)
                    assert wire not in str(caught.value) or len(wire) < 5
                else:
                    kind, cells = column(use())
                    assert repr(cells) == repr([verdict, None]), wire
                    assert name is None or kind == ARROW[TYPES.index(name)], wire
            # Rows have the value of the wire whatever the schema.
            for rows in (scan.to_dicts, search):
                if verdicts[0] is no:
                    with pytest.raises(kinds.Record):
                        rows()
                else:
                    expected = [{"n": 0, "a": json.loads(wire or "null")}, {"n": 1, "a": None}]
                    assert repr(rows()) == repr(expected), wire


def in_turns(*responses: list[dict[str, Any]]) -> Any:
    return serving(in_turn(*(response_of(records) for records in responses)))


def types(table: Any) -> list[str]:
    return [str(kind) for kind in pa.table(table).schema.types]


def test_a_schema_that_was_asked_for_is_that_of_the_next_stream_and_of_no_later_one() -> None:
    with in_turns([{"a": 1}], [{"a": "x"}], [{"a": 2.5}]) as server:
        scan = scan_of(client_of(server), ["a"])
        for _ in range(3):
            assert pa.schema(scan).field("a").type == pa.int64()
        assert pa.table(scan).to_pylist() == [{"a": 1}]
        assert len(server.requests) == 1
        assert pa.table(scan).to_pylist() == [{"a": "x"}]
        assert types(scan) == ["double"]
        assert len(server.requests) == 3


@pytest.mark.parametrize("nothing", [[], [{"a": None}]], ids=["no rows", "all null"])
def test_nothing_settles_no_type_for_later(nothing: Any) -> None:
    with in_turns(nothing, [{"a": 1}], nothing, [{"a": True}]) as server:
        scan = scan_of(client_of(server), ["a"])
        assert [types(scan), types(scan)] == [["string"], ["int64"]]
        assert pa.schema(scan).field("a").type == pa.string()
        assert [types(scan), types(scan)] == [["string"], ["bool"]]


def test_a_relation_of_duckdb_is_used_again_whatever_types_the_next_response_has() -> None:
    with in_turns([{"a": 1}], [{"a": "x"}, {"a": None}], [{"a": None}]) as server:
        scan = scan_of(client_of(server), ["a"])
        relation: Any = duckdb.sql("from scan")
        responses: list[list[Any]] = [[(1,)], [("x",), (None,)], [(None,)]]
        for number, rows in enumerate(responses, start=1):
            assert (relation.fetchall(), len(server.requests)) == (rows, number)
            assert scan.last_stats is not None
            assert scan.last_stats.rows == len(rows)


def test_a_first_batch_is_made_of_many_rows(connect: Any) -> None:
    parts = [part.replace(b'"n": 29999', b'"n": 1.5') for part in whole(30_000)]
    with serving(in_parts(parts)) as server:
        (batch,) = scan_of(connect(server.base_url)).batches()
    assert str(batch.to_arrow().schema.field("n").type) == "double"


# What libraries and Python call the types.
ALIASES: dict[str, list[Any]] = {
    "string": ["str", "String", "large_string", "string", str, pl.String, pl.String(), pa.string(), pa.large_string()],
    "int64": ["int", "Int64", int, pd.Int64Dtype(), np.dtype("int64"), np.int64, pl.Int64, pa.int64()],
    "float64": ["float", "Float64", "double", float, pd.Float64Dtype(), np.float64, pl.Float64, pa.float64()],
    "bool": ["boolean", "Boolean", "bool_", bool, pd.BooleanDtype(), pl.Boolean, pa.bool_()],
    "timestamp": [
        *["datetime", "Datetime", "datetime64[ns]", "timestamp[us]", np.dtype("datetime64[us]"), dt.datetime],
        *[pl.Datetime("us"), pl.Datetime(), pl.Datetime, pa.timestamp("us"), pa.timestamp("s")],
    ],
    "json": ["dict", "list", "struct", dict, pa.struct([("a", pa.int64())]), pl.List(pl.Int64), pl.Struct([])],
}


def test_a_type_has_one_name_and_those_of_libraries(connect: Any) -> None:
    given = {f"{name}-{number}": one for name, every in ALIASES.items() for number, one in enumerate(every)}
    expected = {column: column.partition("-")[0] for column in given}
    with serving(always(response_of([dict.fromkeys(given)]))) as server:
        assert scan_of(connect(server.base_url), list(given), schema=given).collect().schema == expected
    of_polars = pl.Schema({"i": pl.Int64(), "t": pl.Datetime()})
    with serving(always(response_of([{"i": None, "t": None}]))) as server:
        for schema in (of_polars, pa.schema([("i", pa.int64()), ("t", pa.timestamp("s"))])):
            found = scan_of(connect(server.base_url), ["i", "t"], schema=schema).collect().schema
            assert found == {"i": "int64", "t": "timestamp"}


# Columns of promotion codes. `cases/test_statuses_are_numbers_in_dicts_and_names_in_columns.py` has their values.

DAY = da.on("2024-01-15")
ATTRS = ["id", "code_status", "audience_type"]
STATUSES, AUDIENCES = ["available", "sent", "used"], ["customer", "visitor"]
USED = da.CodeStatus.USED
DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def decoded(client: Any, **options: Any) -> Any:
    return client.scan_codes(ATTRS, allocated_time=DAY, decode_status=True, **options)


def test_columns_of_names_have_the_type_of_each_library(sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = decoded(sandbox.client())
    scan.to_folder(tmp_path / "folder")
    assert scan.to_folder(tmp_path / "folder").kept == 1
    read, lazy = scan.read_folder(tmp_path / "folder"), scan.to_lazyframe()
    assert read.schema == {"id": "string", "code_status": "string", "audience_type": "string"}
    assert read.to_pylist() == scan.to_dicts()
    assert scan.to_folder(tmp_path / "folder", refresh="all").refreshed == 1
    enums: Any = {"id": pl.String, "code_status": pl.Enum(STATUSES), "audience_type": pl.Enum(AUDIENCES)}
    for frame in (scan.to_polars(), next(scan.batches()).to_polars(), read.to_polars(), lazy.collect()):
        assert frame.schema == enums
    assert lazy.collect_schema() == enums
    for condition in (pl.col("code_status") == "used", pl.col("code_status").is_in(["used"])):
        assert lazy.filter(condition).collect().equals(scan.to_polars().filter(condition))
    (part,) = (tmp_path / "folder").rglob("*.parquet")
    for schema in (scan.to_arrow().schema, next(scan.batches()).to_arrow().schema, pq.read_schema(part)):
        assert schema.types == [pa.string(), DICTIONARY, DICTIONARY]
    for backend in (None, "pyarrow"):
        categories = scan.to_pandas(backend)[["code_status", "audience_type"]]
        assert [list(categories[name].cat.categories) for name in categories] == [STATUSES, AUDIENCES]


@pytest.mark.parametrize("backend", [None, "numpy_nullable", "pyarrow"])
def test_a_status_selects_rows_of_pandas_by_its_number(client: Any, backend: Any) -> None:
    plain = client.scan_codes(ATTRS, allocated_time=DAY)
    wanted = [row["id"] for row in plain.to_dicts() if row["code_status"] == USED]
    assert 0 < len(wanted) < 73
    frame, names = plain.to_pandas(backend), decoded(client).to_pandas(backend)
    for statuses in (frame.code_status, frame.code_status.astype(object)):
        assert frame[statuses == USED].id.tolist() == wanted
        assert frame[USED == statuses].id.tolist() == wanted  # noqa: SIM300 - the other way round
        assert frame[statuses.isin([USED])].id.tolist() == wanted
        assert (statuses != USED).sum() == 73 - len(wanted)
    assert (frame.code_status >= da.CodeStatus.SENT).sum() == (frame.code_status >= 3).sum() > 0
    assert names[names.code_status == "used"].id.tolist() == wanted


def test_members_are_integers_with_names(client: Any) -> None:
    assert (USED == 4, USED != 4, USED > 3, USED < da.CodeStatus.SENT) == (True, False, True, False)
    assert ({4: "x"}[USED], f"{USED}", USED.name, da.CodeStatus(4)) == ("x", "4", "USED", USED)
    for kind, name in ((da.CodeStatus, "code_status"), (da.AudienceType, "audience_type")):
        for given in (list(kind), next(iter(kind))):
            body = client.validate_codes(allocated_time=DAY, allocated_audience="x", **{name: given})
            (condition,) = [one for one in body["filters"]["OR"][0]["AND"] if one["column"] == name]
            assert condition["value"] == (list(map(int, kind)) if isinstance(given, list) else [int(given)])
            assert {type(number) for number in condition["value"]} == {int}


def test_a_value_without_a_name_is_a_further_category(connect: Any) -> None:
    odd: list[dict[str, Any]] = [{"code_status": value} for value in (1, 4.0, 2, None, "x", [1])]
    names = ["available", "used", "2", None, "x", "[1]"]
    with serving(always(response_of(odd))) as server:
        scan = connect(server.base_url).scan_codes(["code_status"], allocated_time=DAY, decode_status=True)
        frame, typed = scan.to_pandas(), scan.to_polars()
        assert scan.collect()["code_status"] == typed["code_status"].to_list() == names
        assert typed.schema == {"code_status": pl.Enum([*STATUSES, "2", "x", "[1]"])}
        assert frame.code_status.astype(object).where(frame.code_status.notna(), None).tolist() == names
        with pytest.raises(da.ResponseError, check=lambda error: error.column == "code_status"):
            scan.to_lazyframe().collect()


def test_decoding_travels_with_tasks_and_pickles_and_yields_to_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", token := sandbox.issue_token())
        client = da.Client()
        scan = client.scan_codes(
            iter(["code_status"]), allocated_time=DAY, code_status={4}, limit=3, decode_status=True
        )
        other = da.AsyncClient().scan_items("customer", ["name"], da.col("customer_id").equals("a"))
        assert pickle.loads(packed := pickle.dumps(scan)).to_arrow().equals(scan.to_arrow())
        assert pickle.loads(pickle.dumps(other)).requests() == other.requests()
        assert token.encode() not in packed + pickle.dumps(other)
        scan = client.scan_codes(["code_status"], allocated_time=DAY, decode_status=True)
        for copy in (pickle.loads(pickle.dumps(scan)), scan.tasks()[0], pickle.loads(pickle.dumps(scan.tasks()[0]))):
            assert copy.collect().schema == {"code_status": "string"}
        kept = decoded(client, schema={"code_status": "int64"})
        assert kept.collect().schema == {**dict.fromkeys(ATTRS, "string"), "code_status": "int64"}
        assert kept.to_polars().schema["code_status"] == pl.Int64
        with pytest.raises(da.ValidationError, check=about("decode_status")):
            client.scan_codes(allocated_time=DAY, decode_status="yes")  # type: ignore[arg-type] # the mistake


def test_the_attributes_are_those_of_scans_and_of_the_page(client: Any) -> None:
    attributes = da.PROMOTION_CODE_ATTRIBUTES
    table = client.scan_codes(list(attributes), allocated_time=DAY).collect()
    assert table.schema == {name: info.type for name, info in attributes.items()}
    assert all(type(info) is AttributeInfo for info in attributes.values())
    page = (Path(__file__).parents[3] / "docs" / "searches.md").read_text(encoding="utf-8")
    for name, (kind, meaning) in attributes.items():
        assert f"| `{name}` | `{kind}` | {meaning} |" in page
    with pytest.raises(TypeError):
        attributes["x"] = attributes["id"]  # type: ignore[index] # the mistake
