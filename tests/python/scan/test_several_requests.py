"""Scans of several requests: order, limits, how many are in flight, types and figures of all, and what ends them."""

from __future__ import annotations

import asyncio
import io
import json
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.environment import in_parts
from support.failures import DENIED
from support.raw_server import Close, serving
from support.scan_requests import (
    KINDS,
    LONG,
    OUTPUTS,
    REFUSED,
    SILENCE,
    TYPES,
    ScanRequest,
    ThenClose,
    ok_response,
    rows_of,
    rows_of_all,
    scan_of_parts,
    scan_server,
    wait_until,
)
from support.streams import HEAD, column, gone, response_of, scan_of, whole

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
        assert sorted(parts.asked) == [*range(6)]


@pytest.mark.parametrize("schema", [TYPES, None], ids=["types known", "types of the first response"])
@pytest.mark.parametrize("read", [pa.table, pl.DataFrame, lambda scan: duckdb.from_arrow(scan).to_arrow_table()])
def test_other_libraries_cause_each_request_once(read: Any, schema: Any) -> None:
    with scan_server(ok_response) as parts:
        client = da.Client(parts.base_url, token="tok-test", concurrency=3)
        scan = scan_of_parts(client, 8, schema=schema)
        for times in (1, 2):
            assert pl.DataFrame(read(scan)).to_dicts() == rows_of_all(8)
            assert sorted(parts.asked) == sorted([*range(8)] * times)
        assert scan.last_stats is not None
        assert (scan.last_stats.rows, scan.last_stats.requests) == (16, 8)


@every_output
def test_a_limit_is_exact_and_asks_for_no_more_than_it_needs(connect: Any, output: str) -> None:
    with scan_server(ok_response) as parts:
        client = connect(parts.base_url)
        # Each with the number of requests it needs, of two rows each.
        for limit, requests in {1: 1, 2: 1, 3: 2, 4: 2, 7: 4, 10: 5, 11: 5}.items():
            parts.asked.clear()
            scan = scan_of_parts(client, 5, limit=limit)
            assert OUTPUTS[output](scan) == rows_of_all(5)[:limit], limit
            assert parts.asked == list(range(requests)), limit
            assert (scan.last_stats.rows, scan.last_stats.requests) == (min(limit, 10), requests), limit
            assert scan.head(20).num_rows == min(limit, 10), limit


@pytest.mark.parametrize(("most", "asked"), [(0, [0]), (1, [0]), (2, [0]), (3, [0, 1]), (5, [0, 1, 2])])
def test_the_first_rows_cost_the_first_requests(connect: Any, most: int, asked: list[int]) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5, schema=None)
        table = scan.head(most)
        assert (table.to_pylist(), table.schema) == (rows_of_all(5)[:most], TYPES)
        assert parts.asked == asked


@pytest.mark.both_clients
def test_two_uses_at_once_are_two_scans(connect: Any) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5)
        with scan.batches() as one, scan.batches() as other:
            pairs = [(a.to_pylist(), b.to_pylist()) for a, b in zip(one, other, strict=True)]
        assert [a for a, _ in pairs] == [b for _, b in pairs] == [rows_of(part) for part in range(5)]
        assert len(parts.asked) == 10


def of(*responses: list[Any]) -> Any:
    return scan_server(lambda asked: response_of([{"n": asked.part, "a": value} for value in responses[asked.part]]))


def scan_of_values(client: Any, parts: int, **options: Any) -> Any:
    names = da.col("n").matches([str(part) for part in range(parts)])
    return in_parts(1, client.scan_items, "store", ["a"], names, item_type_id=7, **options)


@pytest.mark.parametrize(
    ("responses", "kind", "found"),
    [
        ([[1, 2], [2.5], [None]], "double", [1.0, 2.0, 2.5, None]),
        ([[], [1], [{"k": 1}], ["x"]], "string", ["1", '{"k":1}', "x"]),
        ([[], [None], []], "string", [None]),
    ],
)
@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_types_are_inferred_over_the_rows_of_all_responses(
    connect: Any, responses: list[list[Any]], kind: str, found: list[Any]
) -> None:
    with of(*responses) as parts:
        scan = scan_of_values(connect(parts.base_url), len(responses))
        assert column(scan.to_arrow()) == (kind, found)
        assert [row["a"] for row in scan.to_dicts()] == [value for values in responses for value in values]


@pytest.mark.parametrize("later", [2.5, "x", True, 2**70, [1]])
def test_a_later_response_of_other_types_is_reported_with_its_fix(connect: Any, later: Any) -> None:
    responses: list[list[Any]] = [[], [1, 2], [3], [4, later]]
    kind = "float64" if isinstance(later, float) else "string"
    texts = ["1", "2", "3", "4", later if later == "x" else json.dumps(later)]
    with of(*responses) as parts:
        client = connect(parts.base_url)
        taken: list[Any] = []
        with pytest.raises(da.StreamInterruptedError, match=r"\b4 of 4\b") as caught:
            taken.extend(row["a"] for batch in scan_of_values(client, 4).batches() for row in batch.to_pylist())
        assert taken == [1, 2, 3]
        cause: Any = caught.value.__cause__
        assert isinstance(cause, kinds.Record)
        assert (cause.row, cause.column, kinds.fixed_by(caught.value)) == (1, "a", ["a", kind])
        fixed = OUTPUTS["batches"](scan_of_values(client, 4, schema={"a": kind}))
        assert [row["a"] for row in fixed] == ([1, 2, 3, 4, later] if kind == "float64" else texts)


def test_responses_without_rows_are_asked_for_one_by_one_until_types_are_known(connect: Any) -> None:
    with scan_server(lambda asked: response_of(rows_of(asked.part, 0 if asked.part < 3 else 2))) as parts:
        scan = scan_of_parts(connect(parts.base_url), 8, schema=None)
        rows = [row for part in range(3, 8) for row in rows_of(part)]
        assert OUTPUTS["batches"](scan) == rows
        assert parts.asked[:4] == [0, 1, 2, 3]
        assert sorted(parts.asked) == list(range(8))
        for output in OUTPUTS.values():
            assert output(scan) == rows
            assert output(scan_of_parts(connect(parts.base_url), 8, limit=3)) == rows[:3]


@pytest.mark.parametrize("schema", [TYPES, None], ids=["types known", "types unknown"])
def test_no_rows_at_all(connect: Any, schema: Any) -> None:
    with scan_server(lambda _asked: response_of([])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4, schema=schema)
        for output in OUTPUTS.values():
            assert output(scan) == []
            assert (scan.last_stats.rows, scan.last_stats.requests, scan.last_stats.absent) == (0, 4, [])
            assert scan.last_stats.empty_shape == "data.data []"
        kinds = [pa.string(), pa.string()] if schema is None else [pa.int64(), pa.string()]
        assert scan.to_arrow().schema.types == kinds
        assert scan.to_polars().columns == ["n", "text"]
        scan.to_csv(csv := io.BytesIO())
        scan.to_parquet(parquet := io.BytesIO())
        assert (csv.getvalue(), pq.read_schema(parquet).types) == (b"n,text\n", kinds)
        if not hasattr(scan, "client"):
            assert pa.table(scan).schema.types == kinds


def test_figures_are_those_of_all_responses(connect: Any) -> None:
    some: list[dict[str, Any]] = [{"n": 1, "more": 1}, {"n": 2, "more": None, "other": 2}]
    records: list[list[dict[str, Any]]] = [some, [], [{"n": 3, "text": None, "other": 3}]]
    with scan_server(lambda asked: response_of(records[asked.part])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        for use in OUTPUTS.values():
            use(scan)
            stats = scan.last_stats
            assert (stats.rows, stats.requests, stats.attempts, stats.retries) == (3, 3, 3, 0)
            assert stats.bytes == sum(len(response_of(rows).partition(b"\r\n\r\n")[2]) for rows in records)
            # One response has what is absent in others.
            assert (stats.extra_keys, stats.absent, stats.empty_shape) == ({"more": 2, "other": 2}, [], None)
            assert 0 < stats.seconds < LONG


@every_output
def test_what_all_responses_show_is_warned_of_once(connect: Any, output: str) -> None:
    def respond(asked: ScanRequest) -> bytes:
        return response_of([{"n": asked.part}] if asked.part else [], meta={"total": 3 if asked.part == 1 else None})

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4)
        with pytest.warns(da.DataAccessWarning) as caught:
            OUTPUTS[output](scan)
        assert sorted(each.category.__name__ for each in caught) == ["AbsentAttributeWarning", "IncompleteWarning"]
        assert scan.last_stats.absent == ["text"]


ENDS: dict[str, Callable[[Any, Any], object]] = {
    "close the batches": lambda _client, batches: batches.close(),
    "leave their block": lambda _client, batches: batches.__exit__(None, None, None),
    "close the client": lambda client, _batches: client.close(),
}


@pytest.mark.both_clients
@pytest.mark.parametrize("end", ENDS)
def test_closing_ends_all_that_are_in_flight(connect: Any, end: str) -> None:
    with scan_server(lambda asked: ok_response(asked) if asked.part == 0 else SILENCE) as parts:
        client = connect(parts.base_url, concurrency=4)
        scan = scan_of_parts(client, 9)
        batches = scan.batches()
        assert next(iter(batches)).num_rows == 2
        wait_until(lambda: len(parts.asked) >= 4)
        ENDS[end](client, batches)
        # That of the first response may be kept for another call.
        wait_until(lambda: parts.server.open <= 1)
        for _ in range(2):
            with pytest.raises(da.StreamInterruptedError, check=lambda error: error.rows_yielded == 2) as caught:
                next(iter(batches))
        assert isinstance(caught.value.__cause__, da.ClientClosedError) == (end == "close the client")
        assert not scan.last_stats


def test_closing_the_client_ends_batches_of_which_nothing_was_taken() -> None:
    with scan_server(lambda _asked: SILENCE) as parts:
        client = da.Client(parts.base_url, token="tok-test")
        batches = scan_of_parts(client, 9).batches()
        client.close()
        with pytest.raises(da.ClientClosedError):
            list(batches)
        assert gone(parts.server)


@pytest.mark.both_clients
def test_dropping_the_batches_ends_all_that_are_in_flight(connect: Any) -> None:
    with scan_server(lambda _asked: SILENCE) as parts:
        batches = scan_of_parts(connect(parts.base_url, concurrency=4), 9).batches()
        wait_until(lambda: len(parts.asked) == 4)
        del batches
        assert gone(parts.server)


def test_a_cancelled_wait_has_taken_nothing() -> None:
    def slowly(asked: ScanRequest) -> bytes:
        time.sleep(0.03)
        return response_of(rows_of(asked.part, 7))

    async def main() -> None:
        with scan_server(slowly) as parts:
            client = da.AsyncClient(parts.base_url, token="tok-test", concurrency=2)
            # Within a response too.
            batches = scan_of_parts(client, 30).batches(max_rows=2)
            rows: list[dict[str, Any]] = []
            cancelled = 0
            while True:
                try:
                    async with asyncio.timeout(0.004):
                        rows.extend((await anext(batches)).to_pylist())
                except TimeoutError:
                    cancelled += 1
                except StopAsyncIteration:
                    break
            assert rows == [row for part in range(30) for row in rows_of(part, 7)]
            assert cancelled > 3

    asyncio.run(main())


@pytest.mark.parametrize("output", [*OUTPUTS, "csv"])
def test_cancelling_ends_all_that_are_in_flight(output: str, tmp_path: Path) -> None:
    async def taken(scan: da.AsyncScan) -> None:
        if output == "batches":
            async for _ in scan.batches():
                pass
        else:
            place = [tmp_path / "rows"] if output in KINDS else []
            await getattr(scan, output if output == "collect" else f"to_{output}")(*place)

    async def main() -> None:
        # Rows of the first response are in the file.
        with scan_server(lambda asked: SILENCE if asked.part else ok_response(asked)) as parts:
            task = asyncio.create_task(taken(scan_of_parts(da.AsyncClient(parts.base_url, token="t"), 9)))
            while len(parts.asked) < 9:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(gone, parts.server)

    asyncio.run(main())
    # A cancelled call ends its work a moment later.
    wait_until(lambda: not list(tmp_path.iterdir()))


@pytest.mark.both_clients
@every_output
def test_a_failure_ends_all_that_are_in_flight(connect: Any, output: str) -> None:
    def respond(asked: ScanRequest) -> bytes:
        if asked.part:
            return SILENCE
        wait_until(lambda: len(parts.asked) == 4)
        return REFUSED

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=4), 40)
        # Batches end it although they are held.
        batches = scan.batches() if output == "batches" else None
        with pytest.raises(da.RequestRejectedError):
            next(iter(batches)) if batches else OUTPUTS[output](scan)
        assert gone(parts.server)
        assert len(parts.asked) == 4
        assert not scan.last_stats


def failing(part: int, with_bytes: bytes) -> Callable[[ScanRequest], bytes]:
    return lambda asked: with_bytes if asked.part == part else ok_response(asked)


@every_output
def test_a_failure_names_its_request(connect: Any, output: str) -> None:
    with scan_server(failing(2, REFUSED)) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5)
        with pytest.raises(da.DataAccessError, match=r"\b3 of 5\b.*\b400\b") as caught:
            OUTPUTS[output](scan)
        assert parts.asked.count(2) == 1
    error: Any = caught.value
    if output == "batches":
        assert isinstance(error, da.StreamInterruptedError)
        assert error.rows_yielded == 4
    rejected = error.__cause__ if output == "batches" else error
    assert isinstance(rejected, da.RequestRejectedError)
    assert (rejected.status, error.operation, error.attempts) == (400, "scan_items", 1)
    assert scan.last_stats is None or not scan.last_stats


@every_output
def test_the_failure_reported_is_the_first_of_the_plan(connect: Any, output: str) -> None:
    late = threading.Event()

    def respond(asked: ScanRequest) -> bytes:
        if asked.part == 1:
            assert late.wait(LONG)
        if asked.part == 3:
            late.set()
        return REFUSED if asked.part in (1, 3) else ok_response(asked)

    with scan_server(respond) as parts, pytest.raises(da.DataAccessError, match=r"\b2 of 4\b"):
        OUTPUTS[output](scan_of_parts(connect(parts.base_url, concurrency=4), 4))


@every_output
def test_a_response_that_was_cut_off_is_retried_and_its_rows_come_once(connect: Any, output: str) -> None:
    def respond(asked: ScanRequest) -> bytes:
        whole = ok_response(asked)
        return ThenClose(whole[:-3]) if asked.part and asked.attempt < 2 else whole

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        assert OUTPUTS[output](scan) == rows_of_all(3)
        assert scan.last_stats.retries == 4
        assert scan.last_stats.rows == 6


def long_and_torn(asked: ScanRequest) -> bytes:
    """A response of several batches whose first attempt is truncated."""
    whole = response_of(rows_of(asked.part, 7))
    return ThenClose(whole[:-3]) if asked.part == 1 and asked.attempt == 0 else whole


@pytest.mark.parametrize("output", [name for name in OUTPUTS if name != "batches"])
def test_what_is_collected_is_retried_however_long_it_was(connect: Any, output: str) -> None:
    with scan_server(long_and_torn) as parts:
        rows = OUTPUTS[output](scan_of_parts(connect(parts.base_url), 3))
        assert rows == [row for part in range(3) for row in rows_of(part, 7)]
        assert sorted(parts.asked) == [0, 1, 1, 2]


def test_a_long_response_of_which_nothing_was_taken_is_retried(connect: Any) -> None:
    with scan_server(long_and_torn) as parts:
        batches = scan_of_parts(connect(parts.base_url), 3).batches(max_rows=2)
        # Its first attempt has ended before a row of it was taken.
        wait_until(lambda: parts.asked.count(1) == 2)
        rows = [row for batch in batches for row in batch.to_pylist()]
        assert rows == [row for part in range(3) for row in rows_of(part, 7)]


def test_a_stream_that_was_cut_off_within_a_long_response_is_reported(connect: Any) -> None:
    taken = threading.Event()

    def torn_when_taken(connection: Any, number: int) -> None:
        part = int(server.requests[number].json["filters"]["OR"][0]["AND"][0]["value"][0])
        whole = response_of(rows_of(part, 7))
        connection.sendall(whole[:-3])
        if part == 1:
            assert taken.wait(LONG)
            raise Close
        connection.sendall(whole[-3:])

    with serving(torn_when_taken) as server:
        batches = scan_of_parts(connect(server.base_url), 3).batches(max_rows=2)
        rows: list[dict[str, Any]] = []

        def take() -> None:
            for batch in batches:
                rows.extend(batch.to_pylist())
                if len(rows) > 7:
                    taken.set()

        with pytest.raises(da.StreamInterruptedError, match=r"\b2 of 3\b") as caught:
            take()
        assert rows == [*rows_of(0, 7), *rows_of(1, 6)]
        assert caught.value.rows_yielded == 13
        assert isinstance(caught.value.__cause__, kinds.Truncated)
        assert not batches.stats


@every_output
def test_a_refused_token_ends_the_scan(connect: Any, output: str) -> None:
    with scan_server(failing(1, DENIED)) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        with pytest.raises(da.DataAccessError, match=r"\b2 of 3\b") as caught:
            OUTPUTS[output](scan)
        error = caught.value.__cause__ if output == "batches" else caught.value
        assert isinstance(error, da.PermissionDeniedError)
        assert parts.asked.count(1) == 1


def test_a_token_that_is_refused_to_many_is_renewed_once(connect: Any) -> None:
    together = threading.Barrier(4)
    token = Mock(side_effect=["tok-0", "tok-1"])

    def respond(asked: ScanRequest) -> bytes:
        if asked.attempt == 0 and asked.part < 4:
            together.wait(LONG)
        return ok_response(asked) if asked.request.headers["authorization"] == "Bearer tok-1" else DENIED

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url, token=token, concurrency=4), 8)
        assert scan.to_dicts() == rows_of_all(8)
        assert (token.call_count, len(parts.asked)) == (2, 12)


@pytest.mark.parametrize("output", ["dicts", "batches"])
def test_slow_token_callable_times_out(connect: Any, output: str) -> None:
    over = threading.Event()

    def token() -> str:
        over.wait(3)
        return "tok-late"

    with scan_server(ok_response) as parts:
        try:
            with pytest.raises(da.RequestTimeoutError, match=r"\b0\.5 s\b"):
                OUTPUTS[output](scan_of_parts(connect(parts.base_url, token=token, timeout=0.5), 3))
        finally:
            over.set()


def test_a_token_that_cannot_be_had_is_reported(connect: Any) -> None:
    with scan_server(ok_response) as parts:
        for output in ("dicts", "batches"):
            with pytest.raises(da.ConfigError, match=r"\b1 of 3\b.*\bLookupError\b"):
                OUTPUTS[output](scan_of_parts(connect(parts.base_url, token=Mock(side_effect=LookupError)), 3))
        assert parts.asked == []


@pytest.mark.slow
def test_timeout_applies_per_request(connect: Any) -> None:
    def slowly(asked: ScanRequest) -> bytes:
        time.sleep(0.2)
        return ok_response(asked)

    with scan_server(slowly) as parts:
        client = connect(parts.base_url, timeout=0.7, concurrency=1)
        for output in ("dicts", "batches"):
            assert OUTPUTS[output](scan_of_parts(client, 4)) == rows_of_all(4)


def test_a_response_that_was_cut_off_leaves_nothing_in_the_next(connect: Any) -> None:
    parts = whole(70_000)

    def second_time(connection: Any, number: int) -> None:
        for part in [HEAD, *(parts if number % 2 else parts[:-2])]:
            connection.sendall(part)
        raise Close

    with serving(second_time) as server:
        scan = scan_of(connect(server.base_url))
        for use in (lambda: scan.collect().to_pylist(), scan.to_dicts):
            assert [row["n"] for row in use()] == list(range(70_000))
            assert scan.last_stats.attempts == 2
