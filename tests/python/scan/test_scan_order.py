"""Scans of several requests: order of the rows, limits, and how often each request is sent."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from support.scan_requests import (
    OUTPUTS,
    TYPES,
    ScanRequest,
    ok_response,
    rows_of,
    rows_of_all,
    scan_of_parts,
    scan_server,
)
from support.scan_waits import LONG, by_number
from support.streams import response_of

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

every_output = pytest.mark.parametrize("output", OUTPUTS)


def backwards(count: int) -> Callable[[ScanRequest], bytes]:
    """Responds to each request only after the next one."""
    done = [threading.Event() for _ in range(count)]

    def respond(asked: ScanRequest) -> bytes:
        if asked.part + 1 < count:
            assert done[asked.part + 1].wait(LONG)
        done[asked.part].set()
        return ok_response(asked)

    return respond


@every_output
def test_rows_come_in_the_order_of_the_plan_however_responses_arrive(connect: Any, output: str) -> None:
    with scan_server(backwards(6)) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=6), 6)
        assert OUTPUTS[output](scan) == rows_of_all(6)


def rows_of_duckdb(scan: Any) -> list[dict[str, Any]]:
    assert scan is not None, "found by its name below"
    relation = duckdb.sql("from scan")
    assert relation is not None
    return [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]


CAPSULES: dict[str, Callable[[Any], list[dict[str, Any]]]] = {
    "pyarrow": lambda scan: pa.table(scan).to_pylist(),
    "polars": lambda scan: pl.DataFrame(scan).to_dicts(),
    "duckdb": rows_of_duckdb,
}


@pytest.mark.parametrize("schema", [TYPES, None], ids=["types known", "types of the first response"])
@pytest.mark.parametrize("reader", CAPSULES)
def test_other_libraries_cause_each_request_once(reader: str, schema: Any) -> None:
    with scan_server(ok_response) as parts:
        client = da.Client(parts.base_url, token="tok-test", concurrency=3)
        scan = scan_of_parts(client, 8, schema=schema)
        assert CAPSULES[reader](scan) == rows_of_all(8)
        assert sorted(parts.asked) == list(range(8))
        assert CAPSULES[reader](scan) == rows_of_all(8)
        assert sorted(parts.asked) == sorted([*range(8), *range(8)])
        assert scan.last_stats is not None
        assert (scan.last_stats.rows, scan.last_stats.requests) == (16, 8)


# Each with the number of requests it needs, of two rows each.
LIMITS = {1: 1, 2: 1, 3: 2, 4: 2, 7: 4, 10: 5, 11: 5}


@every_output
def test_a_limit_is_exact_and_asks_for_no_more_than_it_needs(connect: Any, output: str) -> None:
    with scan_server(ok_response) as parts:
        client = connect(parts.base_url)
        for limit, requests in LIMITS.items():
            parts.asked.clear()
            scan = scan_of_parts(client, 5, limit=limit)
            assert OUTPUTS[output](scan) == rows_of_all(5)[:limit], limit
            assert parts.asked == list(range(requests)), limit
            assert (scan.last_stats.rows, scan.last_stats.requests) == (min(limit, 10), requests), limit


def test_a_limit_passes_over_responses_without_rows(connect: Any) -> None:
    sizes = [0, 3, 0, 0, 2, 5]

    def respond(asked: ScanRequest) -> bytes:
        return response_of(rows_of(asked.part, sizes[asked.part]))

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url), 6, limit=4)
        for output in OUTPUTS.values():
            assert output(scan) == [*rows_of(1, 3), *rows_of(4, 1)]
        assert parts.asked == [*range(5)] * len(OUTPUTS)


@pytest.mark.parametrize(("most", "asked"), [(0, [0]), (1, [0]), (2, [0]), (3, [0, 1]), (5, [0, 1, 2])])
def test_the_first_rows_cost_the_first_requests(connect: Any, most: int, asked: list[int]) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5, schema=None)
        assert scan.head(most).to_pylist() == rows_of_all(5)[:most]
        assert parts.asked == asked


def test_threads_share_the_batches_of_several_responses() -> None:
    with scan_server(ok_response) as parts:
        batches = scan_of_parts(da.Client(parts.base_url, token="tok-test"), 60).batches()
        taken: list[list[dict[str, Any]]] = [[] for _ in range(8)]

        def take(mine: list[dict[str, Any]]) -> None:
            for batch in batches:
                mine.extend(batch.to_pylist())

        threads = [threading.Thread(target=take, args=(mine,)) for mine in taken]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert by_number([row for mine in taken for row in mine]) == rows_of_all(60)


@pytest.mark.both_clients
def test_two_uses_at_once_are_two_scans(connect: Any) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5)
        with scan.batches() as one, scan.batches() as other:
            pairs = [(a.to_pylist(), b.to_pylist()) for a, b in zip(one, other, strict=True)]
        assert [a for a, _ in pairs] == [b for _, b in pairs] == [rows_of(part) for part in range(5)]
        assert len(parts.asked) == 10


def test_many_requests_cost_little_beside_their_responses(connect: Any) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 600)
        for output in ("dicts", "batches"):
            assert OUTPUTS[output](scan) == rows_of_all(600)
        assert len(parts.asked) == 1_200
