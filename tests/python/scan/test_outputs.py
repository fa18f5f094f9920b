"""Every output of a scan has the values that pyarrow has of its rows: types, nulls, zones and limits."""

from __future__ import annotations

import copy
import datetime as dt
import json
import pickle
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from support.arguments import about
from support.raw_server import always, serving
from support.streams import client_of, response_of, scan_of
from support.zones import DAYS, Platform, instants

import dataaccess as da

BERLIN = "Europe/Berlin"
TYPES: Any = {"a": "string", "b": "int64", "c": "float64", "d": "bool", "e": "timestamp", "f": "json"}
ARROW = {"string": pa.string(), "int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_(), "json": pa.string()}
# Values that files get wrong.
ROWS: list[dict[str, Any]] = [
    {"a": "plain", "b": 1, "c": 1.5, "d": True, "e": "2024-01-15 23:30:00", "f": {"k": [1, None, "x"]}},
    {"a": None, "b": None, "c": None, "d": None, "e": None, "f": None},
    {"a": 'quote " comma , semicolon ;', "b": 2**63 - 1, "c": -0.0, "d": False, "e": "1970-01-01 00:00:00", "f": []},
    {"a": "line\nfeed\r\nreturn\rtab\t", "b": -(2**63), "c": 5e-324, "d": None, "e": "9999-12-31 23:59:59", "f": "x"},
    {"a": "NUL\0in it", "b": 0, "c": 1.7976931348623157e308, "d": True, "e": "0001-01-01 00:00:00", "f": 2**70},
    {"a": "Zoë 夏 🎁 \u2028 \u202e \ufeff", "b": 7, "c": 0.1, "d": True, "e": "2024-02-29 23:59:59.500", "f": 1.25},
    {"a": "null", "b": 1, "c": 1e-7, "d": False, "e": None, "f": "null"},
    {"a": "  blanks  ", "b": 2**53 + 1, "c": 1e22, "d": True, "e": "2024-07-01 22:30:00", "f": True},
    {"a": "=1+1", "b": 3, "c": 3.0, "d": True, "e": "2024-10-27 01:15:00", "f": "{}"},
    {"a": "\\N \\n \\", "b": 4, "c": 4.25, "d": True, "e": None, "f": {"ä": {"": []}}},
]
# A time of the years 1 and 9999 has no local time in each zone.
ZONED = [{**row, "e": None if (row["e"] or "")[:4] in {"0001", "9999"} else row["e"]} for row in ROWS]


def moment(text: str | None, zone: str | None) -> dt.datetime | None:
    """A time of the wire, which is in UTC, in a zone or in none."""
    if text is None:
        return None
    time = dt.datetime.fromisoformat(text)
    return time if zone is None else time.replace(tzinfo=dt.UTC).astimezone(ZoneInfo(zone))


def schema_of(zone: str | None) -> pa.Schema:
    return pa.schema([(name, ARROW.get(kind, pa.timestamp("us", zone))) for name, kind in TYPES.items()])


def expected(rows: list[dict[str, Any]], zone: str | None) -> list[dict[str, Any]]:
    """The rows as pyarrow has them, values of JSON read."""
    table = pa.Table.from_pylist([{**row, "e": moment(row["e"], zone), "f": None} for row in rows], schema_of(zone))
    return [{**row, "f": wire["f"]} for row, wire in zip(table.to_pylist(), rows, strict=True)]


def of_duckdb(source: Any, zone: str | None) -> pa.Table:
    with duckdb.connect() as connection:
        connection.execute(f"set TimeZone = '{zone or 'UTC'}'")
        connection.register("source", source)
        return connection.sql("from source").to_arrow_table()


of_pandas = partial(pa.Table.from_pandas, preserve_index=False)


def written(scan: Any, path: Path, **zone: Any) -> Path:
    assert getattr(scan, f"to_{path.suffix[1:]}")(path, **zone) is None
    return path


def of_csv(path: Path, schema: pa.Schema) -> pa.Table:
    return pyarrow.csv.read_csv(
        path,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=schema, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def of_lines(path: Path) -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]
    return [row | {name: timed(row[name]) for name in ("e", "allocated_time") if name in row} for row in rows]


def timed(text: str | None) -> dt.datetime | None:
    return None if text is None else dt.datetime.fromisoformat(text)


def in_folder(scan: Any, folder: Path, **zone: Any) -> Any:
    report = scan.to_folder(folder / "codes", **zone)
    assert (report.doubtful_days, report.warnings) == ([], [])
    return scan.read_folder(folder / "codes", **zone)


# Each from a scan, a folder for its file, the zone as an argument, and the types of Arrow.
FORMS: dict[str, Callable[[Any, Path, dict[str, Any], pa.Schema], Any]] = {
    "table": lambda scan, _path, zone, _types: scan.collect(**zone).to_pylist(),
    "head": lambda scan, _path, zone, _types: scan.head(10_000, **zone).to_pylist(),
    "batches": lambda scan, _path, zone, _types: [
        row for batch in scan.batches(max_rows=3, **zone) for row in batch.to_pylist()
    ],
    "batches, arrow": lambda scan, _path, zone, _types: pa.Table.from_batches(
        [batch.to_arrow() for batch in scan.batches(max_rows=3, **zone)]
    ),
    "batches, capsule": lambda scan, _path, zone, _types: pa.Table.from_batches(
        [pa.record_batch(batch) for batch in scan.batches(**zone)]
    ),
    "arrow": lambda scan, _path, zone, _types: scan.to_arrow(**zone),
    "arrow, capsule": lambda scan, _path, zone, _types: pa.table(scan.collect(**zone)),
    "pandas": lambda scan, _path, zone, _types: of_pandas(scan.to_pandas(**zone)),
    "pandas, nullable": lambda scan, _path, zone, _types: of_pandas(scan.to_pandas("numpy_nullable", **zone)),
    "pandas, pyarrow": lambda scan, _path, zone, _types: of_pandas(scan.to_pandas("pyarrow", **zone)),
    "polars": lambda scan, _path, zone, _types: scan.to_polars(**zone),
    "polars, capsule": lambda scan, _path, zone, _types: pl.DataFrame(scan.collect(**zone)),
    "polars, lazy": lambda scan, _path, zone, _types: scan.to_lazyframe(**zone).collect(),
    "duckdb": lambda scan, _path, zone, types: of_duckdb(scan.collect(**zone), zone_of(types)),
    "parquet": lambda scan, path, zone, _types: pq.read_table(written(scan, path / "x.parquet", **zone)),
    "csv": lambda scan, path, zone, types: of_csv(written(scan, path / "x.csv", **zone), types),
    "jsonl": lambda scan, path, zone, _types: of_lines(written(scan, path / "x.jsonl", **zone)),
    "folder": lambda scan, path, zone, _types: in_folder(scan, path, **zone).to_pylist(),
}
# A capsule of a scan, tasks and rows one by one take no `tz=`: they have the zone of the client.
OF_THE_CLIENT: dict[str, Callable[[Any, Path, dict[str, Any], pa.Schema], Any]] = {
    "scan, arrow": lambda scan, _path, _zone, _types: pa.table(scan),
    "scan, reader": lambda scan, _path, _zone, _types: pa.RecordBatchReader.from_stream(scan).read_all(),
    "scan, polars": lambda scan, _path, _zone, _types: pl.DataFrame(scan),
    "scan, duckdb": lambda scan, _path, _zone, types: of_duckdb(scan, zone_of(types)),
    "rows": lambda scan, _path, _zone, _types: list(scan.iter_rows()),
    "tasks": lambda scan, _path, _zone, _types: [row for task in scan.tasks() for row in task.collect().to_pylist()],
}


def zone_of(types: pa.Schema) -> Any:
    return next(kind.tz for kind in types.types if pa.types.is_timestamp(kind))


def rows_of(found: Any, types: pa.Schema) -> list[dict[str, Any]]:
    """Plain rows of any form."""
    if isinstance(found, list):
        return found
    table = found.to_arrow() if isinstance(found, pl.DataFrame) else found
    assert table.column_names == types.names
    return [
        {name: json.loads(value) if name == "f" and value is not None else value for name, value in row.items()}
        for row in table.cast(types).to_pylist()
    ]


def shown(rows: list[dict[str, Any]]) -> list[str]:
    """Rows with what `==` does not see: -0.0, integers that are floats, offsets of times."""
    return [
        repr({name: value.isoformat() if isinstance(value, dt.datetime) else value for name, value in row.items()})
        for row in rows
    ]


@pytest.fixture
def scan(connect: Any) -> Iterator[Callable[..., Any]]:
    def make(rows: list[dict[str, Any]], client: dict[str, Any] | None = None, **options: Any) -> Any:
        server.respond = always(response_of(rows))
        return scan_of(connect(server.base_url, **client or {}), list(TYPES), **{"schema": TYPES, **options})

    with serving(always(b"")) as server:
        yield make


@pytest.mark.parametrize("form", [*FORMS, *OF_THE_CLIENT])
def test_each_value_is_what_pyarrow_has_of_it_in_every_output(scan: Any, form: str, tmp_path: Path) -> None:
    every = FORMS | OF_THE_CLIENT
    assert shown(rows_of(every[form](scan(ROWS), tmp_path, {}, schema_of(None)), schema_of(None))) == shown(
        expected(ROWS, None)
    )
    for number, (zone, given) in enumerate([(BERLIN, BERLIN), (BERLIN, ZoneInfo(BERLIN)), ("UTC", dt.UTC)]):
        client, argument = ({"timezone": given}, {}) if form in OF_THE_CLIENT else ({}, {"tz": given})
        (folder := tmp_path / str(number)).mkdir()
        found = every[form](scan(ZONED, client), folder, argument, schema_of(zone))
        assert shown(rows_of(found, schema_of(zone))) == shown(expected(ZONED, zone))


def test_dicts_and_lines_of_json_have_the_values_of_the_wire(scan: Any, tmp_path: Path) -> None:
    found = scan(ROWS)
    lines = written(found, tmp_path / "x.jsonl").read_bytes().splitlines()
    for rows in (found.to_dicts(), list(map(json.loads, lines))):
        assert list(map(repr, rows)) == list(map(repr, ROWS))
    assert found.collect().to_dicts() == ROWS
    zoned = [{"e": timed(row["e"])} for row in scan(ZONED).collect(tz=BERLIN).to_dicts()]
    assert shown(zoned) == shown([{"e": moment(row["e"], BERLIN)} for row in ZONED])
    # Columns have what was asked for, rows what came.
    with_more = [{"n": 1, "more": {"k": 1}}, {"text": "a", "n": 2, "ä": None}]
    with serving(always(response_of(with_more))) as server:
        other = scan_of(client_of(server))
        lines = written(other, tmp_path / "x.jsonl").read_bytes().splitlines()
        assert [list(json.loads(line)) for line in lines] == [["n", "text", "more"], ["n", "text", "ä"]]
        assert list(map(json.loads, lines)) == other.to_dicts()
        assert other.last_stats.extra_keys == {"more": 1, "ä": 1}
        assert other.collect().column_names == ["n", "text"]


def test_each_library_has_its_own_types(scan: Any, tmp_path: Path) -> None:
    found = scan(ROWS)
    for zone, frame_time in ((None, "datetime64[us]"), (BERLIN, f"datetime64[us, {BERLIN}]")):
        times = {"tz": zone} if zone else {}
        assert found.to_arrow(**times).schema == schema_of(zone)
        assert written(found, tmp_path / "x.parquet", **times).exists()
        assert pq.read_schema(tmp_path / "x.parquet").equals(found.to_arrow(**times).schema, check_metadata=True)
        assert found.to_polars(**times).schema == {
            **{"a": pl.String, "b": pl.Int64, "c": pl.Float64, "d": pl.Boolean},
            **{"e": pl.Datetime("us", zone), "f": pl.String},
        }
        text = "str" if int(pd.__version__.partition(".")[0]) > 2 else "string"
        frame = found.to_pandas(**times)
        assert list(map(str, frame.dtypes)) == [text, "Int64", "float64", "boolean", frame_time, text]
        nullable = list(map(str, found.to_pandas("numpy_nullable", **times).dtypes))
        assert nullable == ["string", "Int64", "Float64", "boolean", frame_time, "string"]
        arrow = found.to_pandas("pyarrow", **times).dtypes
        assert [kind.pyarrow_dtype for kind in arrow[1:5]] == schema_of(zone).types[1:5]
        assert str(arrow.iloc[0]) == "string[pyarrow]"
    assert {pq.ParquetFile(tmp_path / "x.parquet").metadata.row_group(0).column(0).compression} == {"ZSTD"}
    # A zone has one name, and a grid its offsets.
    assert found.to_arrow(tz="europe/berlin").schema == schema_of(BERLIN)
    assert "2024-01-16 00:30:00+01:00" in str(found.collect(tz=BERLIN))
    assert pa.schema(found) == schema_of(None)
    assert found.collect().schema == next(iter(found.batches())).schema == TYPES
    assert scan(ROWS, schema=found.collect().schema).collect().schema == TYPES
    with pytest.raises(ValueError, match="dtype_backend"):
        found.to_pandas(dtype_backend="numpy")


def test_the_suffix_of_csv_chooses_its_separator_and_null_is_an_empty_field(scan: Any, tmp_path: Path) -> None:
    found = scan([{"a": "", "b": 1}, {"a": None, "b": None}, {"a": "x"}], schema=None)
    with pytest.warns(da.AbsentAttributeWarning):
        found.to_csv(tmp_path / "tabs.tsv")
    lines = ["a\tb\tc\td\te\tf", "\t1\t\t\t\t", "\t\t\t\t\t", "x\t\t\t\t\t"]
    assert (tmp_path / "tabs.tsv").read_text().splitlines() == lines
    # A line of one column would be blank.
    with serving(always(response_of([{"text": None}, {"text": "a"}]))) as server:
        scan_of(client_of(server), ["text"]).to_csv(tmp_path / "one.csv")
    assert (tmp_path / "one.csv").read_text() == 'text\n""\na\n'


def test_the_last_time_of_the_calendar_has_a_zone_too(scan: Any, tmp_path: Path) -> None:
    never, hanoi = dt.datetime.fromisoformat("9999-12-31 23:59:59"), "Asia/Ho_Chi_Minh"
    for source, time in [("UTC", never.replace(tzinfo=dt.UTC)), (hanoi, never.replace(tzinfo=ZoneInfo(hanoi)))]:
        found = scan([{**ROWS[0], "e": str(never)}], {"source_timezone": source})
        assert found.collect(tz=hanoi)["e"] == [time]
        lines = written(found, tmp_path / "x.jsonl", tz=hanoi).read_text()
        assert dt.datetime.fromisoformat(json.loads(lines)["e"]) == time


@pytest.mark.parametrize("bad", ["Europe/Berlln", "", 7, b"UTC", dt.timezone(dt.timedelta(hours=2))], ids=repr)
def test_a_zone_that_does_not_exist_is_refused_before_anything_is_sent(scan: Any, tmp_path: Path, bad: Any) -> None:
    found = scan(ROWS)
    for form in FORMS.values():
        with pytest.raises(da.ValidationError, check=about("tz")):
            form(found, tmp_path, {"tz": bad}, schema_of(None))
    assert found.last_stats is None
    assert list(tmp_path.glob("*")) == []


@pytest.fixture
def week(platform: Platform) -> da.Scan:
    days = da.days(DAYS[0], DAYS[-1] + dt.timedelta(days=1))
    return platform.client.scan_codes(["id", "allocated_time"], allocated_time=days)


def test_rows_of_a_day_are_those_of_the_zone_in_every_output(platform: Platform, week: da.Scan, tmp_path: Path) -> None:
    found = Counter(instant.astimezone(ZoneInfo(platform.zone)).date() for instant in instants())
    oracle = {day: found[day] for day in DAYS}
    types = pa.schema([("id", pa.string()), ("allocated_time", pa.timestamp("us", platform.zone))])
    for name, form in (FORMS | OF_THE_CLIENT).items():
        rows = rows_of(form(week, tmp_path, {}, types), types)
        assert Counter(row["allocated_time"].date() for row in rows) == oracle, name
    assert "isAdjustedToUTC=true" in str(pq.ParquetFile(tmp_path / "x.parquet").schema.column(1))
    days = pl.read_parquet(tmp_path / "codes", hive_partitioning=True)
    assert days.filter(pl.col("day") != pl.col("allocated_time").dt.date()).is_empty(), "`day` is the day of its rows"


def test_without_a_zone_times_are_as_the_service_wrote_them(platform: Platform, week: da.Scan) -> None:
    written = {row["id"]: row["allocated_time"] for row in week.to_dicts()}
    unzoned = platform.sandbox.client().scan_codes(["id", "allocated_time"], allocated_time=da.since("2023-12-01"))
    for frame in (unzoned.to_polars(), week.to_polars(tz=None), week.to_lazyframe(tz=None).collect()):
        assert frame.schema["allocated_time"] == pl.Datetime("us")
        found = dict(frame.select("id", pl.col("allocated_time").dt.to_string("%F %T")).iter_rows())
        assert {each: found[each] for each in written} == written


@pytest.fixture
def table(sandbox: da.Sandbox) -> da.Table:
    day = da.on("2024-01-15")
    return sandbox.client().scan_codes(["id", "pool_id", "allocated_time"], allocated_time=day).collect()


def test_parts_of_a_table_are_those_of_its_rows(table: da.Table, sandbox: da.Sandbox) -> None:
    rows = table.to_pylist()
    assert (table.shape, table.num_rows, len(table), table.stats.rows) == ((73, 3), 73, 73, 73)
    assert [table.head(number).to_pylist() for number in (3, 1_000)] == [rows[:3], rows]
    assert table.head(0).schema == table.schema
    for part in (slice(None), slice(10, 20), slice(-5, None), slice(20, 10), slice(70, 900)):
        assert table[part].to_pylist() == table[part].to_polars().to_dicts() == rows[part]
    assert (table[0], table[-1], table[72]) == (rows[0], rows[-1], rows[72])
    chosen = table[["pool_id", "id"]]
    assert chosen.column_names == ["pool_id", "id"]
    assert chosen[5:7].to_pylist() == [{"pool_id": row["pool_id"], "id": row["id"]} for row in rows[5:7]]
    assert [row["allocated_time"] for row in table.to_dicts()] == [str(time) for time in table["allocated_time"]]
    # Across batches.
    scan = sandbox.client().scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17"))
    several = scan.collect()
    for start in (0, 60, 71, 72, 140, 200):
        assert several[start : start + 20]["id"] == several["id"][start : start + 20]
    wrong: list[Any] = [-1, 1.0, False, "1", None]
    for head, bad in product((table.head, scan.head), wrong):
        with pytest.raises(da.ValidationError, check=about("n")):
            head(bad)


@pytest.mark.parametrize(
    ("key", "error"),
    [
        *[(73, IndexError), (-74, IndexError), ("nmae", KeyError), (["id", "x"], KeyError)],
        *[(1.5, TypeError), (slice(0, 10, 2), ValueError)],
    ],
)
def test_what_a_table_does_not_have_is_refused(table: da.Table, key: Any, error: Any) -> None:
    with pytest.raises(error):
        table[key]


def test_rows_in_columns_are_neither_iterated_nor_pickled(table: da.Table, client: Any) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    batches = scan.batches()
    for kept in (table, next(batches), batches):
        with pytest.raises(TypeError):
            pickle.dumps(kept)
    for use, one in product((list, pd.DataFrame), (table, scan)):
        with pytest.raises(TypeError, match=r"\.to_pandas\(\)"):
            use(one)
    with pytest.raises(TypeError):
        len(scan)
    assert pickle.loads(pickle.dumps(table.to_arrow())).to_pylist() == copy.copy(table).to_pylist()


def test_an_asynchronous_scan_is_read_by_no_library(sandbox: da.Sandbox) -> None:
    scan = sandbox.async_client().scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for take in (pl.DataFrame, pa.table, pa.RecordBatchReader.from_stream, pd.DataFrame, list):
        with pytest.raises(TypeError):
            take(scan)
    with da.Sandbox() as other, pytest.raises(TypeError, match=r"await scan\.collect\(\)"):
        other.load("promotion_code", scan)


# Rows of one batch, and of several.
@pytest.mark.parametrize(("rows", "nulls"), [(10, False), (10, True), (70_000, False)])
@pytest.mark.parametrize("backend", [None, "numpy_nullable", "pyarrow"])
def test_every_column_of_a_frame_of_pandas_can_be_written(rows: int, nulls: bool, backend: Any) -> None:
    first = {"i": 1, "f": 0.5, "b": True, "t": "2024-01-15 10:00:00", "s": "x", "m": None}
    later = dict.fromkeys(first) if nulls else first
    schema = {"i": "int64", "f": "float64", "b": "bool", "t": "timestamp", "s": "string", "m": "float64"}
    with serving(always(response_of([first] * (rows - 1) + [later]))) as server:
        table = scan_of(client_of(server), list(first), schema=schema).collect()
    before = table.to_pylist()
    changed = {"i": -5, "f": 2.5, "b": False, "t": pd.Timestamp("2020-02-29").as_unit("us"), "s": "new", "m": 7.5}
    frame = table.to_pandas(backend)
    for place, (name, value) in enumerate(changed.items()):
        frame.iloc[0, place] = value
        frame.loc[frame.index[1:3], name] = value
        frame[name].array[3] = value
        assert frame[name].iloc[:3].tolist() == [value] * 3
    frame["i"] += 1
    frame["f"] *= 2
    frame["b"] = ~frame["b"]
    frame["t"] += pd.Timedelta(days=1)
    assert frame["i"].iloc[0] == -4
    assert table.to_pylist() == before, "the table of Arrow was written"
