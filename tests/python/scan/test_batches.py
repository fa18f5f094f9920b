"""Batches: their size, who gets them, also threads and tasks together, and what ends them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from support import kinds
from support.raw_server import Close, always, closing, reset, serving
from support.streams import CLOSING, HEAD, OPENING, client_of, endless, gone, in_parts, records, scan_of, whole

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")


def numbers(batches: Any) -> list[int]:
    return [row["n"] for batch in batches for row in batch.to_pylist()]


def test_a_batch_has_no_more_rows_or_bytes_than_asked_for(connect: Any) -> None:
    with serving(in_parts(whole(10_000, most=10_000))) as server:
        scan = scan_of(connect(server.base_url))
        for size, sizes in [(1_000, [1_000] * 10), (4_096, [4_096, 4_096, 1_808]), (10**6, [10_000])]:
            batches = list(scan.batches(max_rows=size))
            assert [batch.num_rows for batch in batches] == sizes
            assert numbers(batches) == list(range(10_000))
        sizes = [batch.num_rows for batch in scan.batches(max_bytes=50_000)]
        assert (sum(sizes), len(sizes) > 3) == (10_000, True)


@pytest.mark.both_clients
def test_the_end_is_the_end(connect: Any) -> None:
    with serving(in_parts(whole(10))) as server:
        batches = scan_of(connect(server.base_url)).batches()
        assert not batches.stats
        assert numbers(batches) == list(range(10))
        assert list(batches) == []
        assert batches.stats.rows == 10
        batches.close()
        batches.close()


@pytest.mark.both_clients
def test_what_was_closed_before_anything_was_taken_is_not_empty(connect: Any) -> None:
    with serving(endless()) as server:
        batches = scan_of(connect(server.base_url)).batches()
        batches.close()
        with pytest.raises(da.StreamInterruptedError, check=lambda error: error.rows_yielded == 0):
            list(batches)


def test_a_waiting_reader_learns_that_the_batches_were_closed() -> None:
    with serving(always(HEAD + OPENING + records(0, 50))) as server, ThreadPoolExecutor(1) as pool:
        batches = scan_of(client_of(server)).batches(max_rows=100)
        reader = pool.submit(next, batches)
        while not server.requests:
            time.sleep(0.01)
        batches.close()
        with pytest.raises(da.StreamInterruptedError):
            reader.result(10)


@pytest.mark.parametrize("closing", [contextlib.aclosing, lambda batches: batches])
def test_async_batches_close_as_generators_do(closing: Any) -> None:
    async def main() -> None:
        with serving(endless()) as server:
            batches = scan_of(da.AsyncClient(server.base_url, token="tok")).batches(max_rows=100)
            async with closing(batches):
                assert (await anext(batches)).num_rows == 100
            assert await asyncio.to_thread(gone, server)
            with pytest.raises(da.StreamInterruptedError, check=lambda error: error.rows_yielded == 100):
                await anext(batches)

    asyncio.run(main())


SOME = HEAD + OPENING + records(0, 2_500)


def reset_late(connection: Any, _number: int) -> None:
    # A reset overtakes rows that are not read yet.
    connection.sendall(SOME)
    time.sleep(0.2)
    reset(connection)


@pytest.mark.both_clients
@pytest.mark.parametrize(
    ("end", "cause"),
    [
        (closing(SOME), kinds.Truncated),
        (reset_late, da.ConnectionLostError),
        (always(SOME + b",]"), kinds.InvalidJson),
        (closing(SOME.replace(b'"code":200,', b"") + CLOSING[:-1] + b',"code":301}'), da.PermissionDeniedError),
    ],
    ids=["cut", "reset", "broken", "refused"],
)
def test_a_stream_that_is_cut_off_says_how_many_rows_it_gave(connect: Any, end: Any, cause: type[Exception]) -> None:
    with serving(end) as server:
        batches = scan_of(connect(server.base_url)).batches(max_rows=1_000)
        taken = []
        with pytest.raises(da.StreamInterruptedError) as caught:
            taken.extend(batches)
        with pytest.raises(da.StreamInterruptedError):
            next(iter(batches))
        assert len(server.requests) == 1, "a request was retried although rows had been given"
    assert numbers(taken) == list(range(2_000))
    assert caught.value.rows_yielded == 2_000
    assert isinstance(caught.value.__cause__, cause)
    assert str(caught.value.__cause__).partition(": ")[2][:20] in str(caught.value)
    assert (caught.value.operation, caught.value.attempts) == ("scan_items", 1)
    assert batches.stats is None


@pytest.mark.slow
def test_after_the_first_row_the_time_has_no_end(connect: Any) -> None:
    parts = [OPENING + records(0, 1), *(b"," + records(start, 1) for start in range(1, 6)), CLOSING]

    def slowly(number: int) -> None:
        time.sleep(0.2 if number else 0)

    with serving(in_parts(parts, slowly)) as server:
        client = connect(server.base_url, timeout=0.7, retry_for=0)
        # No batch is full before the end.
        assert numbers(scan_of(client).batches()) == list(range(6))
        with pytest.raises(da.RequestTimeoutError, match=r"\b0\.7 s\b"):
            scan_of(client).collect()


@pytest.mark.slow
def test_a_request_that_is_retried_has_its_time_to_the_first_row_again(connect: Any) -> None:
    def twice(connection: Any, number: int) -> None:
        connection.sendall(HEAD + OPENING + (b"" if number else records(0, 1)))
        if number == 0:
            raise Close

    with serving(twice) as server:
        with pytest.raises(da.RequestTimeoutError, match=r"\b1 s\b"):
            list(scan_of(connect(server.base_url, timeout=1, retry_for=0.2)).batches())
        assert len(server.requests) == 2


def test_threads_share_batches() -> None:
    with serving(in_parts(whole(50_000))) as server:
        batches = scan_of(client_of(server)).batches(max_rows=500)
        with ThreadPoolExecutor(8) as threads:
            taken = list(threads.map(lambda _: numbers(batches), range(8)))
    assert sorted(number for mine in taken for number in mine) == list(range(50_000))
    assert all(mine == sorted(mine) for mine in taken)


def test_tasks_share_batches() -> None:
    async def main() -> list[int]:
        with serving(in_parts(whole(50_000))) as server:
            batches = scan_of(da.AsyncClient(server.base_url, token="tok")).batches(max_rows=500)

            async def take() -> list[int]:
                return [number async for batch in batches for number in numbers([batch])]

            parts = await asyncio.gather(*(take() for _ in range(8)))
            return [number for part in parts for number in part]

    assert sorted(asyncio.run(main())) == list(range(50_000))
