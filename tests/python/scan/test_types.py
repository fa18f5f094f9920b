"""Types of columns: each value of JSON in each type (J1-J3, J13), what is inferred, and what `schema=` takes."""

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
from support.streams import CLOSING, OPENING, client_of, column, in_parts, response_of, scan_of, whole

import dataaccess as da
from dataaccess._types import AttributeInfo

TYPES = ["string", "int64", "float64", "bool", "timestamp", "json", None]
"""The words of `schema=`, and none: then the type is inferred."""
ARROW = ["string", "int64", "double", "bool", "timestamp[us]", "string"]

no = kinds.Record
DATE, NO_DATE = "2024-01-15 10:00:00", "2024-02-30 10:00:00"
TIME = dt.datetime(2024, 1, 15, 10)  # noqa: DTZ001 - columns of time have no zone

MOST = "1.7976931348623157e308"

# The value on the wire, and what it is as string, int64, float64, bool, timestamp, json, inferred.
CELLS: dict[str, list[Any]] = {
    "null": [None, None, None, None, None, None, None],
    "": [None, None, None, None, None, None, None],
    "true": ["true", no, no, True, no, "true", True],
    "false": ["false", no, no, False, no, "false", False],
    "7": ["7", 7, 7.0, no, no, "7", 7],
    "-7": ["-7", -7, -7.0, no, no, "-7", -7],
    "-0": ["-0", 0, -0.0, no, no, "-0", -0.0],
    "7.0": ["7.0", 7, 7.0, no, no, "7.0", 7.0],
    "1e3": ["1e3", 1000, 1000.0, no, no, "1e3", 1000.0],
    "12.50e1": ["12.50e1", 125, 125.0, no, no, "12.50e1", 125.0],
    "0.5": ["0.5", no, 0.5, no, no, "0.5", 0.5],
    "1e-3": ["1e-3", no, 0.001, no, no, "1e-3", 0.001],
    "1e19": ["1e19", no, 1e19, no, no, "1e19", 1e19],
    "9007199254740993": ["9007199254740993", 2**53 + 1, no, no, no, "9007199254740993", 2**53 + 1],
    "9223372036854775807": ["9223372036854775807", 2**63 - 1, no, no, no, "9223372036854775807", 2**63 - 1],
    "-9223372036854775808": ["-9223372036854775808", -(2**63), -(2.0**63), no, no, "-9223372036854775808", -(2**63)],
    "9223372036854775808": ["9223372036854775808", no, 2.0**63, no, no, *["9223372036854775808"] * 2],
    "-9223372036854775809": ["-9223372036854775809", no, no, no, no, *["-9223372036854775809"] * 2],
    "18446744073709551615": ["18446744073709551615", no, no, no, no, *["18446744073709551615"] * 2],
    "18446744073709551616": ["18446744073709551616", no, 2.0**64, no, no, *["18446744073709551616"] * 2],
    "9" * 400: ["9" * 400, no, no, no, no, "9" * 400, "9" * 400],
    "1e400": [no, no, no, no, no, no, no],
    # What a 64-bit float rounds to another integer or to zero, what it holds at its limits, and what is beyond them.
    "-0.0": ["-0.0", 0, -0.0, no, no, "-0.0", -0.0],
    "0e400": ["0e400", 0, 0.0, no, no, "0e400", 0.0],
    "9007199254740992": ["9007199254740992", 2**53, 2.0**53, no, no, "9007199254740992", 2**53],
    "9007199254740992.5": ["9007199254740992.5", no, 2.0**53, no, no, "9007199254740992.5", 2.0**53],
    "9007199254740993.0": ["9007199254740993.0", 2**53 + 1, no, no, no, "9007199254740993.0", 2**53 + 1],
    "90071992547409930e-1": ["90071992547409930e-1", 2**53 + 1, no, no, no, "90071992547409930e-1", 2**53 + 1],
    "9.007199254740993e15": ["9.007199254740993e15", 2**53 + 1, no, no, no, "9.007199254740993e15", 2**53 + 1],
    "9223372036854775807.0": ["9223372036854775807.0", 2**63 - 1, no, no, no, "9223372036854775807.0", 2**63 - 1],
    "9223372036854775808.0": ["9223372036854775808.0", no, 2.0**63, no, no, "9223372036854775808.0", 2.0**63],
    "1e22": ["1e22", no, 1e22, no, no, "1e22", 1e22],
    "1e23": ["1e23", no, 1e23, no, no, "1e23", 1e23],
    "3e-324": ["3e-324", no, 5e-324, no, no, "3e-324", 5e-324],
    **{near: [near, no, no, no, no, near, near] for near in ("1e-400", "-1e-400", "1e-330", "2e-324")},
    MOST: [MOST, no, float(MOST), no, no, MOST, float(MOST)],
    "1.7976931348623159e308": [no, no, no, no, no, no, no],
    '""': ["", no, no, no, no, '""', ""],
    '"x"': ["x", no, no, no, no, '"x"', "x"],
    '"7"': ["7", no, no, no, no, '"7"', "7"],
    '"true"': ["true", no, no, no, no, '"true"', "true"],
    '"null"': ["null", no, no, no, no, '"null"', "null"],
    '"a\\u0000\\n"': ["a\0\n", no, no, no, no, '"a\\u0000\\n"', "a\0\n"],
    '"a \\udead"': [no, no, no, no, no, no, no],
    f'"{DATE}"': [DATE, no, no, no, TIME, f'"{DATE}"', DATE],
    '"2024-02-30 10:00:00"': [NO_DATE, no, no, no, no, f'"{NO_DATE}"', NO_DATE],
    "[]": ["[]", no, no, no, no, "[]", "[]"],
    "{}": ["{}", no, no, no, no, "{}", "{}"],
    '[1, {"k": null}]': ['[1,{"k":null}]', no, no, no, no, *['[1,{"k":null}]'] * 2],
    '{"k": 1.0, "k": -0}': ['{"k":1.0,"k":-0}', no, no, no, no, *['{"k":1.0,"k":-0}'] * 2],
    '{"k": 18446744073709551616}': [f'{{"k":{2**64}}}', no, no, no, no, *[f'{{"k":{2**64}}}'] * 2],
}  # fmt: skip


class Records:
    """Responses each request with one record that has this value, or lacks it; and one that is all null."""

    value = ""

    def __call__(self, connection: Any, _number: int) -> None:
        member = f',"a":{self.value}' if self.value else ""
        records = f'{{"n":0{member}}},{{"n":1,"a":null}}'
        connection.sendall(http(f'{{"code":200,"data":{{"status":true,"data":[{records}]}}}}'.encode()))


def scan_of_cell(client: Any, name: str | None) -> Any:
    return scan_of(client, ["n", "a"], schema={"a": name} if name else None)


def collected(scan: Any) -> Any:
    return scan.to_arrow()


def streamed(scan: Any) -> Any:
    (batch,) = scan.batches()
    return batch.to_arrow()


def cell(table: Any) -> Any:
    first, second = table.column("a").to_pylist()
    assert second is None
    return first


@pytest.mark.fault("J2", "J3")
@pytest.mark.filterwarnings("ignore::dataaccess.AbsentAttributeWarning")
@pytest.mark.parametrize("name", TYPES)
def test_each_value_is_in_each_type_of_column_what_the_table_says(connect: Any, name: Any) -> None:
    records = Records()
    with serving(records) as server:
        client = connect(server.base_url)
        for wire, verdicts in CELLS.items():
            records.value = wire
            verdict = verdicts[TYPES.index(name)]
            for use in (collected, streamed):
                scan = scan_of_cell(client, name)
                if verdict is no:
                    with pytest.raises(kinds.Record) as caught:
                        use(scan)
                    assert (caught.value.row, caught.value.column) == (0, "a"), (wire, name)
                    assert caught.value.attempts == 1
                    assert wire not in str(caught.value) or len(wire) < 5
                else:
                    table = use(scan)
                    assert repr(cell(table)) == repr(verdict), (wire, name)
                    if name:
                        assert str(table.schema.field("a").type) == ARROW[TYPES.index(name)]


@pytest.mark.filterwarnings("ignore::dataaccess.AbsentAttributeWarning")
def test_rows_have_the_wire_value_whatever_the_schema(connect: Any) -> None:
    records = Records()
    with serving(records) as server:
        client = connect(server.base_url)
        for number, (wire, verdicts) in enumerate(CELLS.items()):
            records.value = wire
            scan = scan_of_cell(client, TYPES[number % len(TYPES)])
            search = partial(client.search_items, "store", ["n", "a"], da.col("n").equals("x"), item_type_id=7)
            for use in (scan.to_dicts, search):
                if verdicts[0] is no:
                    with pytest.raises(kinds.Record):
                        use()
                else:
                    expected = [{"n": 0, "a": json.loads(wire or "null")}, {"n": 1, "a": None}]
                    assert repr(use()) == repr(expected), wire


def written(*values: str) -> Any:
    """A response of records whose values are written so."""
    body = b",".join(b'{"a":%s}' % value.encode() for value in values)
    return in_parts([OPENING, body, CLOSING])


EXACT, WIDE = 2**53, 2**53 + 1


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        (["1", "null", "-5"], "int64", [1, None, -5]),
        (["1", "2.5"], "double", [1.0, 2.5]),
        (["true", "null"], "bool", [True, None]),
        (['"x"', "null"], "string", ["x", None]),
        (["null", "null"], "string", [None, None]),
        (["1", '"x"'], "string", ["1", "x"]),
        ([str(2**70), "1"], "string", [str(2**70), "1"]),
        (['{"k":[1]}', "null"], "string", ['{"k":[1]}', None]),
        (["5.0", f"{WIDE}.0", "7"], "int64", [5, WIDE, 7]),
        (["1.5", f"{EXACT}.0"], "double", [1.5, float(EXACT)]),
        (["1.5", f"{WIDE}.0"], "string", ["1.5", f"{WIDE}.0"]),
        (["1.5", str(WIDE)], "string", ["1.5", str(WIDE)]),
        (["1.5", "1e-400"], "string", ["1.5", "1e-400"]),
        (["0.1", "1e300", "5e-324"], "double", [0.1, 1e300, 5e-324]),
    ],
)
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_types_are_inferred_over_all_rows(connect: Any, values: Any, kind: str, found: Any) -> None:
    with serving(written(*values)) as server:
        scan = scan_of(connect(server.base_url), ["a"])
        assert column(scan.to_arrow()) == (kind, found)
        assert [row["a"] for row in scan.to_dicts()] == list(map(json.loads, values))


LATER: list[Any] = [WIDE, 2.5, 2**63, True, "x", "5", [1], {"k": 1.5}, None]


@pytest.mark.parametrize(
    "before", [[1, 2], [1, 2, WIDE, 3], [WIDE, 1], [1.5, 2], [True, None], ["x", None], [None, None]]
)
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_a_hint_works(connect: Any, before: list[Any]) -> None:
    with serving(always(b"")) as server:
        client = connect(server.base_url)
        for later in LATER:
            rows = [{"a": value} for value in [*before, later]]
            server.respond = always(response_of(rows))
            try:
                batches = list(scan_of(client, ["a"]).batches(max_rows=2))
            except da.StreamInterruptedError as error:
                name, kind = kinds.fixed_by(error)
                assert (name, kind in {"string", "float64"}) == ("a", True)
                batches = list(scan_of(client, ["a"], schema={"a": kind}).batches(max_rows=2))
            found = [row["a"] for batch in batches for row in batch.to_pylist()]
            # Equal, or the texts of all.
            values = [row["a"] for row in rows]
            if any(isinstance(value, str) for value in found):
                json_of = partial(json.dumps, separators=(",", ":"))
                values = [value if isinstance(value, str | None) else json_of(value) for value in values]
            assert found == values, later


def in_turns(*responses: list[dict[str, Any]]) -> Any:
    """A server of these records, one response after the other."""
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
        assert types(scan) == ["string"]
        assert types(scan) == ["int64"]
        assert pa.schema(scan).field("a").type == pa.string()
        assert types(scan) == ["string"]
        assert types(scan) == ["bool"]


def test_a_relation_of_duckdb_is_used_again_whatever_types_the_next_response_has() -> None:
    with in_turns([{"a": 1}], [{"a": "x"}, {"a": None}], [{"a": None}]) as server:
        scan = scan_of(client_of(server), ["a"])
        relation = duckdb.sql("from scan")
        assert len(server.requests) == 1
        assert relation is not None
        responses: list[list[Any]] = [[(1,)], [("x",), (None,)], [(None,)]]
        for number, rows in enumerate(responses, start=1):
            assert relation.fetchall() == rows
            assert len(server.requests) == number
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
    with serving(always(response_of([{"i": None, "t": None}]))) as server:
        for schema in (
            pl.Schema({"i": pl.Int64(), "t": pl.Datetime()}),
            pa.schema([("i", pa.int64()), ("t", pa.timestamp("s"))]),
        ):
            found = scan_of(connect(server.base_url), ["i", "t"], schema=schema).collect().schema
            assert found == {"i": "int64", "t": "timestamp"}


# Columns of promotion codes: names of statuses in each library, times of the last use.


DAY = da.on("2024-01-15")
ATTRS = ["id", "code_status", "audience_type"]
NAMES = {1: "available", 3: "sent", 4: "used", -1003: "customer", -1007: "visitor", None: None}
STATUSES, AUDIENCES = ["available", "sent", "used"], ["customer", "visitor"]
USED, VISITOR = da.CodeStatus.USED, da.AudienceType.VISITOR
DICTIONARY = pa.dictionary(pa.int32(), pa.string())


def decoded(client: Any, **options: Any) -> Any:
    return client.scan_codes(ATTRS, allocated_time=DAY, decode_status=True, **options)


def test_names_stand_in_columns_and_numbers_in_rows(sandbox: da.Sandbox, tmp_path: Path) -> None:
    client = sandbox.client()
    plain, scan = client.scan_codes(ATTRS, allocated_time=DAY).collect().to_pylist(), decoded(client)
    named = [{name: NAMES.get(value, value) for name, value in row.items()} for row in plain]
    assert scan.to_dicts() == scan.collect().to_pylist() == plain
    scan.to_parquet(tmp_path / "codes.parquet")
    scan.to_csv(tmp_path / "codes.csv")
    scan.to_folder(tmp_path / "folder")
    assert scan.to_folder(tmp_path / "folder").kept == 1
    assert scan.to_folder(tmp_path / "folder", refresh="all").refreshed == 1
    read = scan.read_folder(tmp_path / "folder")
    assert (read.to_pylist(), read.schema) == (
        plain,
        {"id": "string", "code_status": "string", "audience_type": "string"},
    )
    enums: Any = {"id": pl.String, "code_status": pl.Enum(STATUSES), "audience_type": pl.Enum(AUDIENCES)}
    lazy = scan.to_lazyframe()
    for frame in (scan.to_polars(), pl.concat(b.to_polars() for b in scan.batches()), read.to_polars(), lazy.collect()):
        assert (frame.to_dicts(), frame.schema) == (named, enums)
    assert lazy.collect_schema() == enums
    for condition in (pl.col("code_status") == "used", pl.col("code_status").is_in(["used"])):
        assert lazy.filter(condition).collect().equals(scan.to_polars().filter(condition))
    (part,) = (tmp_path / "folder").rglob("*.parquet")
    # A Parquet file orders the names by their first rows.
    for table in (scan.to_arrow(), pq.read_table(tmp_path / "codes.parquet"), next(scan.batches()).to_arrow()):
        assert (table.to_pylist(), table.schema.types) == (named, [pa.string(), DICTIONARY, DICTIONARY])
    assert pq.read_schema(part).field("code_status").type == DICTIONARY
    assert pd.read_csv(tmp_path / "codes.csv").code_status.tolist() == [row["code_status"] for row in named]
    counts: Any = duckdb.sql("select count(*) from scan where code_status = 'used'")
    assert counts.fetchall() == [(sum(row["code_status"] == "used" for row in named),)]
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
    assert (frame.audience_type == VISITOR).any()
    assert (frame.code_status >= da.CodeStatus.SENT).sum() == (frame.code_status >= 3).sum() > 0
    assert names[names.code_status == "used"].id.tolist() == wanted


def test_members_are_integers_with_names(client: Any) -> None:
    assert (USED == 4, USED != 4, USED > 3, USED < da.CodeStatus.SENT) == (True, False, True, False)
    assert ({4: "x"}[USED], f"{USED}", USED.name, da.CodeStatus(4)) == ("x", "4", "USED", USED)
    for kind, name, more in (
        (da.CodeStatus, "code_status", {}),
        (da.AudienceType, "audience_type", {"allocated_audience": "x"}),
    ):
        for given in (list(kind), next(iter(kind))):
            body = client.validate_codes(allocated_time=DAY, **{name: given}, **more)
            (condition,) = [one for one in body["filters"]["OR"][0]["AND"] if one["column"] == name]
            assert condition["value"] == (list(map(int, kind)) if isinstance(given, list) else [int(given)])
            assert {type(number) for number in condition["value"]} == {int}


def test_a_value_without_a_name_is_a_further_category(connect: Any, tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [{"code_status": value} for value in (1, 4.0, 2, None, "x", [1])]
    names = ["available", "used", "2", None, "x", "[1]"]
    with serving(always(response_of(odd))) as server:
        scan = connect(server.base_url).scan_codes(["code_status"], allocated_time=DAY, decode_status=True)
        assert scan.collect()["code_status"] == names
        frame, typed = scan.to_pandas(), scan.to_polars()
        assert frame.code_status.astype(object).where(frame.code_status.notna(), None).tolist() == names
        assert list(frame.code_status.cat.categories) == [*STATUSES, "2", "x", "[1]"]
        assert typed["code_status"].to_list() == names
        assert typed.schema == {"code_status": pl.Enum([*STATUSES, "2", "x", "[1]"])}
        scan.to_parquet(tmp_path / "odd.parquet")
        assert pq.read_table(tmp_path / "odd.parquet")["code_status"].to_pylist() == names
        with pytest.raises(Exception, match="code_status"):
            scan.to_lazyframe().collect()


def test_decoding_travels_with_tasks_and_pickles_and_yields_to_a_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
        client = da.Client(sandbox.base_url)
        scan = client.scan_codes(["code_status"], allocated_time=DAY, decode_status=True)
        for copy in (pickle.loads(pickle.dumps(scan)), scan.tasks()[0], pickle.loads(pickle.dumps(scan.tasks()[0]))):
            assert copy.collect().schema == {"code_status": "string"}
        kept = decoded(client, schema={"code_status": "int64"})
        assert kept.collect().schema == {**dict.fromkeys(ATTRS, "string"), "code_status": "int64"}
        assert kept.to_polars().schema["code_status"] == pl.Int64
        with pytest.raises(da.ValidationError, check=about("decode_status")):
            client.scan_codes(allocated_time=DAY, decode_status="yes")  # type: ignore[arg-type] # the mistake


@pytest.mark.parametrize("values", [[DATE, None, "2024-01-15T10:00:00.5"], [None, None]])
def test_the_last_use_is_a_time(connect: Any, values: Any) -> None:
    with serving(always(response_of([{"last_used_time": value} for value in values]))) as server:
        scan = connect(server.base_url).scan_codes(["last_used_time"], allocated_time=DAY)
        table = scan.collect()
        assert table.schema == scan.head(3).schema == next(scan.batches()).schema == {"last_used_time": "timestamp"}
        assert (table.stats.notes, len(table)) == ([], len(values))


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
