"""Scans into files: their content and column types in each format."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.raw_server import always, serving
from support.scan_requests import ScanRequest, ok_response, rows_of, rows_of_all, scan_of_parts, scan_server
from support.streams import in_parts, response_of, scan_of, whole
from support.written_files import kind_of, rows_in, write

import dataaccess as da

# Values that files get wrong.
ODD: list[dict[str, Any]] = [
    {"a": "plain", "b": 1, "c": 1.5, "d": True, "e": "2024-01-15 10:00:00", "f": {"k": [1, None, "x"]}},
    {"a": None, "b": None, "c": None, "d": None, "e": None, "f": None},
    {"a": 'quote " comma , semicolon ;', "b": 2**63 - 1, "c": -0.0, "d": False, "e": "1970-01-01 00:00:00", "f": []},
    {"a": "line\nfeed\r\nreturn\rtab\t", "b": -(2**63), "c": 5e-324, "d": None, "e": "9999-12-31 23:59:59", "f": "x"},
    {"a": "NUL\0in it", "b": 0, "c": 1.7976931348623157e308, "d": True, "e": "0001-01-01 00:00:00", "f": 2**70},
    {"a": "Zoë 夏 🎁 \u2028 \u202e \ufeff", "b": 7, "c": 0.1, "d": True, "e": "2024-02-29 23:59:59.5", "f": 1.25},
    {"a": "null", "b": 1, "c": 1e-7, "d": False, "e": None, "f": "null"},
    {"a": "  blanks  ", "b": 2**53 + 1, "c": 1e22, "d": True, "e": None, "f": True},
    {"a": "=1+1", "b": 3, "c": 3.0, "d": True, "e": None, "f": "{}"},
    {"a": "\\N \\n \\", "b": 4, "c": 4.25, "d": True, "e": None, "f": {"ä": {"": []}}},
]
ODD_TYPES = {"a": "string", "b": "int64", "c": "float64", "d": "bool", "e": "timestamp", "f": "json"}


@pytest.fixture
def odd() -> Iterator[str]:
    """The address of a service whose rows these are."""
    with serving(always(response_of(ODD))) as server:
        yield server.base_url


def odd_scan(client: Any, **options: Any) -> Any:
    return scan_of(client, list(ODD_TYPES), **{"schema": ODD_TYPES, **options})


def test_parquet_has_the_columns_of_the_scan(connect: Any, odd: str, tmp_path: Path) -> None:
    scan = odd_scan(connect(odd))
    scan.to_parquet(tmp_path / "odd.parquet")
    table = pq.read_table(tmp_path / "odd.parquet")
    assert table.equals(scan.to_arrow())
    assert table.schema.equals(scan.to_arrow().schema, check_metadata=True)
    assert [str(kind) for kind in table.schema.types] == [
        "string",
        "int64",
        "double",
        "bool",
        "timestamp[us]",
        "string",
    ]
    assert pl.read_parquet(tmp_path / "odd.parquet").equals(scan.to_polars())
    pd.testing.assert_frame_equal(
        pd.read_parquet(tmp_path / "odd.parquet", dtype_backend="pyarrow"), scan.to_pandas(dtype_backend="pyarrow")
    )
    found = duckdb.read_parquet(str(tmp_path / "odd.parquet")).fetchall()
    assert found == [tuple(row.values()) for row in table.to_pylist()]
    assert {pq.ParquetFile(tmp_path / "odd.parquet").metadata.row_group(0).column(0).compression} == {"ZSTD"}


def test_lines_of_json_are_the_rows_of_the_scan(connect: Any, odd: str, tmp_path: Path) -> None:
    scan = odd_scan(connect(odd))
    scan.to_jsonl(tmp_path / "odd.jsonl")
    lines = (tmp_path / "odd.jsonl").read_bytes().splitlines()
    rows = [json.loads(line) for line in lines]
    assert rows == scan.to_dicts() == ODD
    assert [str(value) for row in rows for value in row.values()] == [
        str(value) for row in ODD for value in row.values()
    ]
    assert len((tmp_path / "odd.jsonl").read_text(encoding="utf-8").split("\n")) == len(ODD) + 1, (
        "lines end by \\n alone"
    )


def test_lines_of_json_keep_the_keys_that_columns_do_not(connect: Any, tmp_path: Path) -> None:
    rows = [{"n": 1, "more": {"k": 1}}, {"text": "a", "n": 2, "ä": None}]
    with serving(always(response_of(rows))) as server:
        scan = scan_of(connect(server.base_url))
        scan.to_jsonl(tmp_path / "rows.jsonl")
        text = (tmp_path / "rows.jsonl").read_text(encoding="utf-8")
        assert [list(json.loads(line)) for line in text.splitlines()] == [["n", "text", "more"], ["n", "text", "ä"]]
        assert [json.loads(line) for line in text.splitlines()] == scan.to_dicts()
        assert scan.last_stats.extra_keys == {"more": 1, "ä": 1}


def test_other_libraries_read_the_lines_of_json(connect: Any, tmp_path: Path) -> None:
    with serving(in_parts(whole(500))) as server:
        scan = scan_of(connect(server.base_url))
        path = tmp_path / "rows.jsonl"
        scan.to_jsonl(path)
        rows = scan.to_dicts()
    assert pl.read_ndjson(path).to_dicts() == rows
    assert pd.read_json(path, lines=True).to_dict("records") == rows
    assert duckdb.read_json(str(path)).fetchall() == [tuple(row.values()) for row in rows]


def test_csv_has_the_values_of_the_scan(connect: Any, odd: str, tmp_path: Path) -> None:
    odd_scan(connect(odd)).to_csv(tmp_path / "odd.csv")
    with (tmp_path / "odd.csv").open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    assert header == list(ODD_TYPES)
    assert len(lines) == len(ODD)
    for line, row in zip(lines, ODD, strict=True):
        for text, (column, value) in zip(line, row.items(), strict=True):
            if value is None:
                assert text == ""
            elif column == "c":
                assert repr(float(text)) == repr(value)
            elif column in "bdf":
                assert json.loads(text) == value
            else:
                assert text == value.replace("59.5", "59.500")


def test_other_libraries_read_the_csv(connect: Any, sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = connect(sandbox).scan_codes(allocated_time=da.after("2024-02-20"))
    path = tmp_path / "codes.csv"
    scan.to_csv(path)
    frame = scan.to_polars()
    assert pl.read_csv(path, schema=frame.schema).equals(frame)
    pandas = pd.read_csv(
        path,
        dtype=scan.to_pandas().dtypes.drop(times := ["date_created", "allocated_time", "last_used_time"]).to_dict(),
        parse_dates=times,
    ).astype(dict.fromkeys(times, "datetime64[us]"))  # pandas 2 reads nanoseconds
    pd.testing.assert_frame_equal(pandas, scan.to_pandas(), check_dtype=False)
    types = {name: "varchar" for name, kind in frame.schema.items() if kind == pl.String}
    found = duckdb.read_csv(str(path), dtype=types)
    assert [tuple(row.values()) for row in frame.to_dicts()] == found.fetchall()


def test_in_csv_an_empty_string_is_a_missing_one_as_documented(connect: Any, tmp_path: Path) -> None:
    with serving(always(response_of([{"n": 1, "text": ""}, {"n": 2, "text": None}]))) as server:
        scan_of(connect(server.base_url)).to_csv(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text() == "n,text\n1,\n2,\n"


def test_a_column_of_nothing_keeps_its_lines(connect: Any, tmp_path: Path) -> None:
    with serving(always(response_of([{"text": None}, {"text": "a"}, {"text": None}]))) as server:
        scan_of(connect(server.base_url), ["text"]).to_csv(tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["text"], [""], ["a"], [""]]


def test_files_of_all_codes(connect: Any, sandbox: da.Sandbox, path: Path) -> None:
    scan = connect(sandbox).scan_codes(allocated_time=da.days("2024-01-01", "2024-03-01"))
    write(scan, kind_of(path), path)
    assert scan.last_stats.requests == 60
    frame = scan.to_polars()
    found: pl.DataFrame
    match kind_of(path):
        case "parquet":
            found = pl.read_parquet(path)
        case "csv":
            found = pl.read_csv(path, schema=frame.schema)
        case _:
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            assert rows == scan.to_dicts()
            return
    assert found.equals(frame)
    assert len(found) > 3_000


# Several requests.


def test_rows_of_several_responses_are_in_the_order_of_the_plan(connect: Any, path: Path) -> None:
    done = [threading.Event() for _ in range(6)]

    def backwards(asked: ScanRequest) -> bytes:
        assert asked.part == 5 or done[asked.part + 1].wait(20)
        done[asked.part].set()
        return ok_response(asked)

    with scan_server(backwards) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=6), 6)
        write(scan, kind_of(path), path)
        assert rows_in(path) == rows_of_all(6)
        assert (scan.last_stats.rows, scan.last_stats.requests) == (12, 6)


def test_the_suffix_of_csv_chooses_its_separator(connect: Any, odd: str, tmp_path: Path) -> None:
    scan = odd_scan(connect(odd))
    scan.to_csv(tmp_path / "comma.csv")
    scan.to_csv(tmp_path / "tabs.tsv")
    with (tmp_path / "comma.csv").open(newline="") as comma, (tmp_path / "tabs.tsv").open(newline="") as other:
        assert list(csv.reader(other, delimiter="\t")) == list(csv.reader(comma))


def test_a_file_with_a_limit(connect: Any, path: Path) -> None:
    with scan_server(ok_response) as parts:
        client = connect(parts.base_url)
        write(scan_of_parts(client, 6, limit=5), kind_of(path), path)
        assert rows_in(path) == rows_of_all(6)[:5]
        assert parts.asked == [0, 1, 2]


def test_types_are_those_of_the_first_response_with_rows(connect: Any, path: Path) -> None:
    with scan_server(lambda asked: response_of(rows_of(asked.part) if asked.part > 1 else [])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5, schema=None)
        write(scan, kind_of(path), path)
        assert rows_in(path) == rows_of_all(5)[4:]
        if kind_of(path) == "parquet":
            assert pq.read_schema(path).types == [pa.int64(), pa.string()]


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_later_value_of_another_type_is_reported_with_its_fix(connect: Any, kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    with scan_server(lambda asked: response_of([{"n": 1 if asked.part < 2 else "x", "text": None}])) as parts:
        client = connect(parts.base_url)
        with pytest.raises(kinds.Record, match=r"\b3 of 3\b") as caught:
            write(scan_of_parts(client, 3, schema=None), kind, path)
        assert kinds.fixed_by(caught.value) == ["n", "string"]
        assert list(tmp_path.iterdir()) == []
        write(scan_of_parts(client, 3, schema={"n": "string"}), kind, path)
        assert path.exists()
        scan_of_parts(client, 3, schema=None).to_jsonl(tmp_path / "rows.jsonl")
        assert [row["n"] for row in rows_in(tmp_path / "rows.jsonl")] == [1, 1, "x"]


# No rows.


@pytest.mark.parametrize("requests", [1, 3])
def test_a_file_without_rows_has_its_columns(connect: Any, path: Path, requests: int) -> None:
    with scan_server(lambda _asked: response_of([])) as parts:
        for schema, kinds in [(None, [pa.string()] * 2), ({"n": "timestamp"}, [pa.timestamp("us"), pa.string()])]:
            write(scan_of_parts(connect(parts.base_url), requests, schema=schema), kind_of(path), path)
            match kind_of(path):
                case "parquet":
                    table = pq.read_table(path)
                    assert (table.num_rows, table.schema.names, table.schema.types) == (0, ["n", "text"], kinds)
                case "csv":
                    assert path.read_bytes() == b"n,text\n"
                case _:
                    assert path.read_bytes() == b""


def test_codes_without_rows_have_their_types(client: Any, tmp_path: Path) -> None:
    scan = client.scan_codes(allocated_time=da.on("1999-01-01"))
    scan.to_parquet(tmp_path / "codes.parquet")
    assert pq.read_schema(tmp_path / "codes.parquet").equals(scan.to_arrow().schema)


# The rest of it.


@pytest.mark.both_clients
def test_what_is_doubtful_is_warned_of(connect: Any, path: Path) -> None:
    with scan_server(lambda asked: response_of([{"n": asked.part}])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        with pytest.warns(da.AbsentAttributeWarning, match="'text'") as caught:
            write(scan, kind_of(path), path)
        assert len(caught) == 1
        if not hasattr(scan, "client"):
            assert caught[0].filename == write.__code__.co_filename
        assert scan.last_stats.absent == ["text"]
    assert path.exists()
