"""Types of columns: what `schema=` asks for, what is inferred, and the error when a value does not fit."""

from __future__ import annotations

import datetime as dt
import json
from functools import partial
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from support import kinds
from support.arguments import about
from support.raw_server import always, http, in_turn, serving
from support.streams import CLOSING, OPENING, client_of, column, in_parts, response_of, scan_of, whole

import dataaccess as da


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        ([1, None, -5], "int64", [1, None, -5]),
        ([1, 2.5], "double", [1.0, 2.5]),
        ([True, None], "bool", [True, None]),
        (["x", None], "string", ["x", None]),
        ([None, None], "string", [None, None]),
        ([1, "x"], "string", ["1", "x"]),
        ([2**70, 1], "string", [str(2**70), "1"]),
        ([{"k": [1]}, None], "string", ['{"k":[1]}', None]),
    ],
    ids=["whole numbers", "numbers", "truth", "texts", "nothing", "mixed", "beyond 64 bits", "nested"],
)
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_types_are_inferred_over_all_rows(connect: Any, values: Any, kind: str, found: Any) -> None:
    with serving(always(response_of([{"a": value} for value in values]))) as server:
        scan = scan_of(connect(server.base_url), ["a"])
        assert column(scan.to_arrow()) == (kind, found)
        assert [row["a"] for row in scan.to_dicts()] == values


@pytest.mark.parametrize(
    ("name", "values", "kind", "found"),
    [
        ("string", ["x", 1, None], "string", ["x", "1", None]),
        ("int64", [1, None], "int64", [1, None]),
        ("float64", [1, 2.5], "double", [1.0, 2.5]),
        ("bool", [True, None], "bool", [True, None]),
        (
            "timestamp",
            ["2024-01-15 10:00:00", None],
            "timestamp[us]",
            [dt.datetime(2024, 1, 15, 10), None],  # noqa: DTZ001 - without a zone
        ),
        ("json", ["x", 1, None, {"k": 1}], "string", ['"x"', "1", None, '{"k":1}']),
    ],
)
def test_schema_chooses_the_type(connect: Any, name: Any, values: Any, kind: str, found: Any) -> None:
    with serving(always(response_of([{"a": value} for value in values]))) as server:
        client = connect(server.base_url)
        scan = scan_of(client, ["a"], schema={"a": name})
        assert column(scan.to_arrow()) == (kind, found)
        assert column(pa.Table.from_batches([batch.to_arrow() for batch in scan.batches()])) == (kind, found)


def test_json_and_times_are_plain_values_in_rows(connect: Any) -> None:
    rows: list[dict[str, Any]] = [
        {"a": "x", "b": "2024-01-15 10:00:00"},
        {"a": {"k": [1, None]}, "b": "2024-01-15 10:00:00.25"},
    ]
    with serving(always(response_of(rows))) as server:
        table = scan_of(connect(server.base_url), ["a", "b"], schema={"a": "json", "b": "timestamp"}).collect()
    times = [dt.datetime(2024, 1, 15, 10), dt.datetime(2024, 1, 15, 10, 0, 0, 250_000)]  # noqa: DTZ001 - as columns are
    assert table.to_pylist() == [{**row, "b": time} for row, time in zip(rows, times, strict=True)]


@pytest.mark.parametrize("schema", [None, {"a": "string"}, {"a": "json"}])
def test_half_a_surrogate_pair_is_refused_in_every_form(connect: Any, schema: Any) -> None:
    body = rb'{"code":200,"message":"","data":{"status":true,"data":[{"a":"x"},{"a":"secret \udead"}]}}'
    with serving(always(http(body))) as server:
        scan = scan_of(connect(server.base_url, retry_for=0), ["a"], schema=schema)
        for use in (scan.to_dicts, scan.collect, lambda: list(scan.batches())):
            with pytest.raises(kinds.Record, match="Unicode") as caught:
                use()
            assert (caught.value.row, caught.value.column) == (1, "a")
            assert "secret" not in str(caught.value)


def test_schema_is_for_codes_too(connect: Any, sandbox: da.Sandbox) -> None:
    scan = connect(sandbox).scan_codes(
        ["pool_id", "last_used_time"],
        allocated_time=da.after("2024-01-01"),
        schema={"pool_id": "float64", "last_used_time": "timestamp"},
    )
    assert [str(kind) for kind in scan.to_arrow().schema.types] == ["double", "timestamp[us]"]


@pytest.mark.parametrize("use", ["collect", "stream"])
def test_a_misfit_names_the_place_and_what_fixes_it(connect: Any, use: str) -> None:
    with serving(always(response_of([{"a": 1}, {"a": "secret"}]))) as server:
        scan = scan_of(connect(server.base_url), ["a"], schema={"a": "int64"})
        with pytest.raises(kinds.Record, match="64-bit") as caught:
            scan.collect() if use == "collect" else list(scan.batches())
    assert kinds.fixed_by(caught.value) == ["a", "string"]
    assert (caught.value.row, caught.value.column) == (1, "a")
    assert "secret" not in str(caught.value)


def test_a_stream_keeps_the_types_of_its_first_batch(connect: Any) -> None:
    rows: list[dict[str, Any]] = [{"a": 1}] * 10 + [{"a": 2.5}]
    with serving(always(response_of(rows))) as server:
        client = connect(server.base_url)
        assert column(scan_of(client, ["a"]).to_arrow())[0] == "double"
        taken = []
        with pytest.raises(da.StreamInterruptedError) as caught:
            taken.extend(scan_of(client, ["a"]).batches(max_rows=4))
        assert [batch.num_rows for batch in taken] == [4, 4]
        assert kinds.fixed_by(caught.value) == ["a", "float64"]
        assert isinstance(caught.value.__cause__, kinds.Record)
        fixed = scan_of(client, ["a"], schema={"a": "float64"})
        assert sum(batch.num_rows for batch in fixed.batches(max_rows=4)) == 11


EXACT = 2**53
WIDE = 2**53 + 1


def written(*values: str) -> Any:
    """A response of records whose numbers are written so."""
    body = b",".join(b'{"a":%s}' % value.encode() for value in values)
    return in_parts([OPENING, body, CLOSING])


@pytest.mark.parametrize(
    ("values", "kind", "found"),
    [
        ([f"{WIDE}.0"], "int64", [WIDE]),
        (["5.0", f"{WIDE}.0", "7"], "int64", [5, WIDE, 7]),
        (["1.5", f"{EXACT}.0"], "double", [1.5, float(EXACT)]),
        (["1.5", f"{WIDE}.0"], "string", ["1.5", f"{WIDE}.0"]),
        (["1.5", str(WIDE)], "string", ["1.5", str(WIDE)]),
        (["1.5", "1e-400"], "string", ["1.5", "1e-400"]),
        (["0.1", "1e300", "5e-324"], "double", [0.1, 1e300, 5e-324]),
    ],
)
def test_no_integer_is_rounded_to_a_float(connect: Any, values: Any, kind: str, found: Any) -> None:
    with serving(written(*values)) as server:
        assert column(scan_of(connect(server.base_url), ["a"]).to_arrow()) == (kind, found)


@pytest.mark.parametrize("value", [str(WIDE), f"{WIDE}.0", f"{WIDE}e0", f"-{WIDE}.0", "1e-400"])
def test_what_a_float_would_lose_does_not_fit_it(connect: Any, value: str) -> None:
    with serving(written("1.5", value)) as server:
        client = connect(server.base_url)
        with pytest.raises(kinds.Record, match="64-bit") as caught:
            scan_of(client, ["a"], schema={"a": "float64"}).collect()
        assert kinds.fixed_by(caught.value) == ["a", "string"]
        assert column(scan_of(client, ["a"], schema={"a": "string"}).to_arrow()) == ("string", ["1.5", value])


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


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_the_types_of_one_response_are_not_those_of_the_next() -> None:
    with in_turns([{"a": 1}, {"a": "x"}], [{"a": "y"}]) as server:
        scan = scan_of(client_of(server), ["a"])
        assert pa.table(scan).to_pylist() == [{"a": "1"}, {"a": "x"}]
        assert pa.table(scan).to_pylist() == [{"a": "y"}]


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


def test_an_empty_response_has_a_schema_as_well() -> None:
    with serving(always(response_of([]))) as server:
        scan = scan_of(client_of(server), ["a", "b"])
        assert pa.schema(scan).names == ["a", "b"]
        assert pa.table(scan).num_rows == 0
        assert scan.collect().to_arrow().schema.types == [pa.string(), pa.string()]


def test_a_first_batch_is_made_of_many_rows(connect: Any) -> None:
    parts = [part.replace(b'"n": 29999', b'"n": 1.5') for part in whole(30_000)]
    with serving(in_parts(parts)) as server:
        (batch,) = scan_of(connect(server.base_url)).batches()
    assert str(batch.to_arrow().schema.field("n").type) == "double"


@pytest.mark.parametrize(
    ("schema", "argument", "named"),
    [
        ({"idd": "string"}, 'schema["idd"]', '"id"'),
        ({"id": "strng"}, 'schema["id"]', '"string"'),
        ({"id": bytes}, 'schema["id"]', "string, int64, float64, bool, timestamp, json"),
        ({"id": pl.Int32}, 'schema["id"]', "string, int64"),
        ({"id": pa.int32()}, 'schema["id"]', "string, int64"),
        ({"id": np.dtype("int32")}, 'schema["id"]', '"int64"'),
        ({"id": None}, 'schema["id"]', "string, int64"),
        (["id"], "schema", "dict"),
        ("string", "schema", "dict"),
    ],
)
def test_a_bad_schema_is_reported_at_once(client: Any, schema: Any, argument: str, named: str) -> None:
    with pytest.raises(da.ValidationError, match=named, check=about(argument)):
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15"), schema=schema)


def test_problems_of_search_and_schema_are_reported_together(client: Any) -> None:
    with pytest.raises(da.ValidationError) as caught:
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15"), code_status=7, schema={"id": "strng"})
    assert [problem.argument for problem in caught.value.problems] == ["code_status", 'schema["id"]']
