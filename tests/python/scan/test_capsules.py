"""Scans as capsules of Arrow: how often the service is asked, and what a reader gets."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from support.raw_server import Close, always, http, serving
from support.streams import HEAD, OPENING, client_of, endless, gone, records, response_of, scan_of

import dataaccess as da


@pytest.fixture
def service() -> Any:
    """A service whose requests are counted."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


def customers(service: da.Sandbox) -> da.Scan:
    """A scan whose schema is known only from the response."""
    who = da.col("customer_id").matches([f"demo-customer-000{number}" for number in range(1, 9)])
    return service.client().scan_items("customer", ["customer_id", "name"], who)


def codes(service: da.Sandbox) -> da.Scan:
    """A scan whose schema is known."""
    return service.client().scan_codes(["id"], allocated_time=da.on("2024-01-15"))


@pytest.mark.parametrize("make", [customers, codes])
def test_duckdb_causes_one_request_for_each_use(service: da.Sandbox, make: Any) -> None:
    scan = make(service)
    rows = [tuple(row.values()) for row in scan.to_dicts()]
    service.clear_requests()
    relation = duckdb.sql("from scan")
    assert relation is not None
    assert relation.fetchall() == rows
    assert len(service.requests) == 1
    assert relation.fetchall() == rows
    assert len(service.requests) == 2


@pytest.mark.parametrize("make", [customers, codes])
def test_duckdb_selects_and_filters_in_one_request(service: da.Sandbox, make: Any) -> None:
    scan = make(service)
    rows = [row[scan.column_names[0]] for row in scan.to_dicts()]
    (name,) = scan.column_names[:1]
    service.clear_requests()
    found = duckdb.sql(f"select {name} from scan where {name} > $1 order by {name} limit 3", params=[min(rows)])
    assert found is not None
    assert [row for (row,) in found.fetchall()] == sorted(rows)[1:4]
    assert len(service.requests) == 1


def test_duckdb_joins_a_scan_with_a_folder_in_one_request(service: da.Sandbox, tmp_path: Path) -> None:
    client = service.client()
    week = client.scan_codes(["id", "allocated_audience"], allocated_time=da.days("2024-01-08", "2024-01-15"))
    report = week.to_folder(tmp_path / "codes")
    scan = client.scan_items("customer", ["customer_id", "name"])
    held = {row["allocated_audience"] for row in week.to_dicts()} & {row["customer_id"] for row in scan.to_dicts()}
    service.clear_requests()
    found = duckdb.sql(
        f"""select customer_id, count(*), min(day) from scan
            join read_parquet('{tmp_path}/codes/*/*.parquet') on allocated_audience = customer_id group by all"""
    )
    assert found is not None
    rows = found.fetchall()
    assert {who for who, _, _ in rows} == held
    assert held
    assert sum(count for _, count, _ in rows) <= report.rows
    assert len(service.requests) == 1


@pytest.mark.parametrize("take", [pa.table, pl.DataFrame])
@pytest.mark.parametrize("make", [customers, codes])
def test_others_cause_one_request_too(service: da.Sandbox, take: Any, make: Any) -> None:
    scan = make(service)
    service.clear_requests()
    assert len(take(scan)) == len(scan.to_dicts())
    assert len(service.requests) == 2


def test_asking_for_a_known_schema_sends_nothing(service: da.Sandbox) -> None:
    scan = codes(service)
    assert pa.schema(scan) == pa.schema([("id", pa.string())])
    assert len(service.requests) == 0


def test_asking_only_for_an_inferred_schema_leaves_one_request() -> None:
    with da.Sandbox() as own:
        own.declare("store", 7, {"size": "number"})
        own.load("store", [{"size": 1}])
        scan = own.client().scan_items("store", ["size"], item_type_id=7)
        assert [pa.schema(scan).names for _ in range(3)] == [["size"]] * 3
        assert len(own.requests) == 1


def test_an_unused_stream_ends_with_its_scan() -> None:
    with serving(endless()) as server:
        scan = scan_of(client_of(server))
        assert pa.schema(scan).names == ["n", "text"]
        assert server.open == 1
        del scan
        gc.collect()
        assert gone(server)


def test_an_unread_capsule_ends_its_request() -> None:
    with serving(endless(100_000)) as server:
        capsule = scan_of(client_of(server)).__arrow_c_stream__()
        assert server.open == 1
        del capsule
        assert gone(server)


def test_stats_follow_a_foreign_reader(service: da.Sandbox) -> None:
    scan = codes(service)
    rows = pa.table(scan).num_rows
    assert scan.last_stats is not None
    assert scan.last_stats.rows == rows


def test_a_foreign_reader_gets_no_warnings_but_figures() -> None:
    with serving(always(response_of([{"n": 1, "more": 1}], meta={"total": 7}))) as server:
        scan = scan_of(client_of(server))
        assert pa.table(scan).num_rows == 1
        relation = duckdb.sql("from scan")
        assert relation is not None
        assert relation.fetchall() == [(1, None)]
        assert scan.last_stats is not None
        assert (scan.last_stats.absent, scan.last_stats.extra_keys) == (["text"], {"more": 1})


def test_a_refusal_is_raised_before_anyone_pulls(service: da.Sandbox) -> None:
    scan = service.client(scopes=["download"]).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for take in (pa.table, pl.DataFrame):
        with pytest.raises(da.PermissionDeniedError):
            take(scan)


def test_a_stream_that_breaks_fails_the_reader() -> None:
    def cut(connection: Any, _number: int) -> None:
        connection.sendall(HEAD + OPENING + records(0, 100_000))
        raise Close

    with serving(cut) as server:
        scan = scan_of(client_of(server))
        with pytest.raises(OSError, match="65536"):
            pa.table(scan)
        with pytest.raises(Exception, match="65536"):
            pl.DataFrame(scan)


def test_closing_the_client_fails_the_reader_of_a_capsule() -> None:
    with serving(endless(100_000)) as server:
        client = client_of(server)
        reader = pa.RecordBatchReader.from_stream(scan_of(client))
        assert reader.read_next_batch().num_rows == 65_536
        client.close()
        with pytest.raises(OSError, match=r"[0-9]+ .*client"):
            reader.read_all()


def test_another_schema_is_not_made(service: da.Sandbox) -> None:
    scan = codes(service)
    wanted = pa.schema([("id", pa.large_string())])
    reader = pa.RecordBatchReader._import_from_c_capsule(scan.__arrow_c_stream__(wanted.__arrow_c_schema__()))
    assert reader.schema == pa.schema(scan)
    assert reader.read_all().num_rows == len(scan.to_dicts())


def test_a_failed_response_is_reported_by_the_schema_too() -> None:
    with serving(always(http(b"", "500 Oops"))) as server:
        scan = scan_of(client_of(server, retry_for=0))
        with pytest.raises(da.ServerError):
            pa.schema(scan)
