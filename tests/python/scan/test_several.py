"""Scans of several requests: which are under way, what comes of their answers in which order, and what ends them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pytest
from support.failures import DENIED
from support.pairs import cycled
from support.raw_server import Close, RawServer, http, serving
from support.scan_requests import (
    FORMS,
    SILENCE,
    TYPES,
    Asked,
    Last,
    good,
    parted,
    rows_of,
    rows_of_all,
    rows_of_batches,
    scan_of_parts,
)
from support.streams import answer

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

LONG = 20
"""Seconds after which a test is given up, never reached by one that passes."""

every_form = pytest.mark.parametrize("form", FORMS)


def by_number(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: int(row["n"]))


def gone(server: RawServer) -> bool:
    """Whether all connections end, in a moment."""
    deadline = time.monotonic() + 5
    while server.open and time.monotonic() < deadline:
        time.sleep(0.01)
    return server.open == 0


def wait_until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + LONG
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def backwards(count: int) -> Callable[[Asked], bytes]:
    """Answers each part only when the next one was answered."""
    done = [threading.Event() for _ in range(count)]

    def answers(asked: Asked) -> bytes:
        if asked.part + 1 < count:
            assert done[asked.part + 1].wait(LONG)
        done[asked.part].set()
        return good(asked)

    return answers


@every_form
def test_rows_come_in_the_order_of_the_plan_however_answers_come(connect: Any, form: str) -> None:
    with parted(backwards(6)) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=6), 6)
        assert FORMS[form](scan) == rows_of_all(6)


@every_form
def test_without_order_the_rows_are_the_same(connect: Any, form: str) -> None:
    with parted(backwards(6)) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=6), 6, ordered=False)
        assert by_number(FORMS[form](scan)) == rows_of_all(6)


def test_without_order_nothing_waits_for_the_first_answer(connect: Any) -> None:
    taken = threading.Event()

    def answers(asked: Asked) -> bytes:
        assert asked.part > 0 or taken.wait(LONG)
        return good(asked)

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=2), 4, ordered=False)
        rows = []
        for batch in scan.batches():
            rows.extend(batch.to_pylist())
            if len(rows) == 6:
                taken.set()
    assert by_number(rows[:6]) == rows_of_all(4)[2:]
    assert rows[6:] == rows_of(0)


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


@pytest.mark.parametrize("schema", [TYPES, None], ids=["types known", "types of the first answer"])
@pytest.mark.parametrize("reader", CAPSULES)
def test_other_libraries_cause_each_request_once(reader: str, schema: Any) -> None:
    with parted(good) as parts:
        client = da.Client(parts.base_url, token="tok-test", concurrency=3)
        scan = scan_of_parts(client, 8, schema=schema)
        assert CAPSULES[reader](scan) == rows_of_all(8)
        assert sorted(parts.asked) == list(range(8))
        assert CAPSULES[reader](scan) == rows_of_all(8)
        assert sorted(parts.asked) == sorted([*range(8), *range(8)])
        assert scan.last_stats is not None
        assert (scan.last_stats.rows, scan.last_stats.requests) == (16, 8)


@every_form
def test_as_many_requests_as_wanted_are_under_way_and_no_more(connect: Any, form: str) -> None:
    together = threading.Barrier(4)

    def answers(asked: Asked) -> bytes:
        # Broken when fewer are sent: this one would wait in vain.
        together.wait(LONG)
        return good(asked)

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=4), 12)
        assert FORMS[form](scan) == rows_of_all(12)
        assert parts.most == 4


def test_one_at_a_time_is_one_at_a_time(connect: Any) -> None:
    with parted(good) as parts:
        client = connect(parts.base_url, concurrency=1)
        for form in FORMS.values():
            assert form(scan_of_parts(client, 5)) == rows_of_all(5)
        assert parts.most == 1
        assert parts.asked == [*range(5)] * len(FORMS)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_slow_consumer_slows_the_requests(connect: Any, ordered: bool) -> None:  # noqa: FBT001 - a parameter
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=3), 12, ordered=ordered)
        rows: list[dict[str, Any]] = []
        for taken, batch in enumerate(scan.batches(), start=1):
            rows.extend(batch.to_pylist())
            time.sleep(0.05)
            assert len(parts.asked) <= taken + 3, "more answers wait than may be under way"
    assert by_number(rows) == rows_of_all(12)
    assert parts.most <= 3


def test_what_nobody_takes_stops_the_requests(connect: Any) -> None:
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=3), 40)
        with scan.batches() as batches:
            assert next(iter(batches)).num_rows == 2
            time.sleep(0.5)
            assert len(parts.asked) <= 1 + 3
        asked = len(parts.asked)
        time.sleep(0.2)
        assert len(parts.asked) == asked
        with pytest.raises(da.StreamInterruptedError, match="closed after 2 rows"):
            next(iter(batches))


@every_form
def test_the_rate_is_that_of_all_requests(connect: Any, form: str) -> None:
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url, requests_per_second=20), 6)
        begun = time.monotonic()
        assert FORMS[form](scan) == rows_of_all(6)
        assert time.monotonic() - begun >= 5 / 20


# Each with the number of requests it needs, of two rows each.
LIMITS = {1: 1, 2: 1, 3: 2, 4: 2, 7: 4, 10: 5, 11: 5}


@every_form
def test_a_limit_is_exact_and_asks_for_no_more_than_it_needs(connect: Any, form: str) -> None:
    with parted(good) as parts:
        client = connect(parts.base_url)
        for limit, requests in LIMITS.items():
            parts.asked.clear()
            scan = scan_of_parts(client, 5, limit=limit)
            assert FORMS[form](scan) == rows_of_all(5)[:limit], limit
            assert parts.asked == list(range(requests)), limit
            assert (scan.last_stats.rows, scan.last_stats.requests) == (min(limit, 10), requests), limit


def test_a_limit_passes_over_answers_without_rows(connect: Any) -> None:
    sizes = [0, 3, 0, 0, 2, 5]

    def answers(asked: Asked) -> bytes:
        return answer(rows_of(asked.part, sizes[asked.part]))

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url), 6, limit=4)
        for form in FORMS.values():
            assert form(scan) == [*rows_of(1, 3), *rows_of(4, 1)]
        assert parts.asked == [*range(5)] * len(FORMS)


@pytest.mark.parametrize(("most", "asked"), [(0, [0]), (1, [0]), (2, [0]), (3, [0, 1]), (5, [0, 1, 2])])
def test_the_first_rows_cost_the_first_requests(connect: Any, most: int, asked: list[int]) -> None:
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5, schema=None)
        assert scan.head(most).to_pylist() == rows_of_all(5)[:most]
        assert parts.asked == asked


def failing(part: int, with_bytes: bytes) -> Callable[[Asked], bytes]:
    return lambda asked: with_bytes if asked.part == part else good(asked)


REFUSED = Last(http({"code": 400, "message": "no such thing"}, "400 Bad Request"))


@every_form
def test_a_failure_names_its_request(connect: Any, form: str) -> None:
    with parted(failing(2, REFUSED)) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5)
        with pytest.raises(da.DataAccessError, match=r"request 3 of 5.*HTTP 400") as caught:
            FORMS[form](scan)
        assert parts.asked.count(2) == 1
    error = caught.value
    if form == "batches":
        assert isinstance(error, da.StreamInterruptedError)
        assert error.rows_yielded == 4
        cause: Any = error.__cause__
        assert isinstance(cause, da.RequestRejectedError)
    else:
        assert isinstance(error, da.RequestRejectedError)
        assert error.status == 400
    assert (error.operation, error.attempts) == ("scan_items", 1)
    assert scan.last_stats is None or not scan.last_stats


def test_a_single_request_has_no_number(connect: Any) -> None:
    with parted(failing(0, REFUSED)) as parts, pytest.raises(da.RequestRejectedError) as caught:
        scan_of_parts(connect(parts.base_url), 1).to_dicts()
    assert "request 1 of 1" not in str(caught.value)


@every_form
def test_the_failure_told_is_the_first_of_the_plan(connect: Any, form: str) -> None:
    late = threading.Event()

    def answers(asked: Asked) -> bytes:
        if asked.part == 1:
            assert late.wait(LONG)
        if asked.part == 3:
            late.set()
        return REFUSED if asked.part in (1, 3) else good(asked)

    with parted(answers) as parts, pytest.raises(da.DataAccessError, match="request 2 of 4"):
        FORMS[form](scan_of_parts(connect(parts.base_url, concurrency=4), 4))


def test_a_failure_of_the_service_is_tried_eight_times(connect: Any) -> None:
    broken = http(b"", "500 Broken")
    with parted(failing(2, broken)) as parts:
        with pytest.raises(da.ServerError, match="request 3 of 5") as caught:
            scan_of_parts(connect(parts.base_url), 5).to_dicts()
        assert parts.asked.count(2) == 8
        assert caught.value.attempts == 8
        assert len(caught.value.history) == 8


@every_form
def test_without_retries_each_request_is_sent_once(connect: Any, form: str) -> None:
    broken = http(b"", "500 Broken")
    with parted(failing(2, broken)) as parts:
        with pytest.raises(da.DataAccessError, match="request 3 of 5") as caught:
            FORMS[form](scan_of_parts(connect(parts.base_url, retries=0), 5))
        assert caught.value.attempts == 1
        assert parts.asked.count(2) == 1


@every_form
def test_what_mends_itself_is_no_failure(connect: Any, form: str) -> None:
    def answers(asked: Asked) -> bytes:
        return http(b"", "500 Broken") if asked.attempt < asked.part else good(asked)

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4)
        assert FORMS[form](scan) == rows_of_all(4)
        assert (scan.last_stats.requests, scan.last_stats.attempts, scan.last_stats.retries) == (4, 10, 6)
        assert sorted(parts.asked) == [0, 1, 1, 2, 2, 2, 3, 3, 3, 3]


@every_form
def test_an_answer_that_broke_off_is_asked_for_again_and_its_rows_come_once(connect: Any, form: str) -> None:
    def answers(asked: Asked) -> bytes:
        whole = good(asked)
        # Twice at the same byte would be final.
        return Last(whole[: -3 - 2 * asked.attempt]) if asked.part and asked.attempt < 2 else whole

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        assert FORMS[form](scan) == rows_of_all(3)
        assert scan.last_stats.retries == 4
        assert scan.last_stats.rows == 6


def long_and_torn(asked: Asked) -> bytes:
    """Rows of several batches, and at first no end."""
    whole = answer(rows_of(asked.part, 7))
    return Last(whole[:-3]) if asked.part == 1 and asked.attempt == 0 else whole


@pytest.mark.parametrize("form", [name for name in FORMS if name != "batches"])
def test_what_is_collected_is_asked_for_again_however_long_it_was(connect: Any, form: str) -> None:
    with parted(long_and_torn) as parts:
        rows = FORMS[form](scan_of_parts(connect(parts.base_url), 3))
        assert rows == [row for part in range(3) for row in rows_of(part, 7)]
        assert sorted(parts.asked) == [0, 1, 1, 2]


def test_a_long_answer_of_which_nothing_was_taken_is_requested_again(connect: Any) -> None:
    with parted(long_and_torn) as parts:
        batches = scan_of_parts(connect(parts.base_url), 3).batches(max_rows=2)
        # Its first attempt has ended before a row of it was taken.
        wait_until(lambda: parts.asked.count(1) == 2)
        rows = [row for batch in batches for row in batch.to_pylist()]
        assert rows == [row for part in range(3) for row in rows_of(part, 7)]


def test_a_stream_that_broke_off_within_a_long_answer_is_told(connect: Any) -> None:
    taken = threading.Event()

    def torn_when_taken(connection: Any, number: int) -> None:
        part = int(server.requests[number].json["filters"]["OR"][0]["AND"][0]["value"][0])
        whole = answer(rows_of(part, 7))
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

        with pytest.raises(da.StreamInterruptedError, match=r"after 13 rows: request 2 of 3") as caught:
            take()
        assert rows == [*rows_of(0, 7), *rows_of(1, 6)]
        assert caught.value.rows_yielded == 13
        assert isinstance(caught.value.__cause__, da.TruncatedResponseError)
        assert not batches.stats


@every_form
def test_a_refused_token_ends_the_scan(connect: Any, form: str) -> None:
    with parted(failing(1, DENIED)) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        with pytest.raises(da.DataAccessError, match=r"request 2 of 3.*refused the token") as caught:
            FORMS[form](scan)
        error = caught.value.__cause__ if form == "batches" else caught.value
        assert isinstance(error, da.PermissionDeniedError)
        assert parts.asked.count(1) == 1


def test_a_token_that_is_refused_to_many_is_renewed_once(connect: Any) -> None:
    together = threading.Barrier(4)
    given: list[str] = []

    def token() -> str:
        given.append(f"tok-{len(given)}")
        return given[-1]

    def answers(asked: Asked) -> bytes:
        if asked.attempt == 0 and asked.part < 4:
            together.wait(LONG)
        return good(asked) if asked.request.headers["authorization"] == "Bearer tok-1" else DENIED

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url, token=token, concurrency=4), 8)
        assert scan.to_dicts() == rows_of_all(8)
        assert given == ["tok-0", "tok-1"]
        assert len(parts.asked) == 12


@pytest.mark.parametrize("form", ["dicts", "batches"])
def test_a_token_that_does_not_come_is_no_reason_to_wait_for_ever(connect: Any, form: str) -> None:
    over = threading.Event()

    def token() -> str:
        over.wait(3)
        return "tok-late"

    with parted(good) as parts:
        try:
            with pytest.raises(da.RequestTimeoutError, match=r"timeout=0\.5"):
                FORMS[form](scan_of_parts(connect(parts.base_url, token=token, timeout=0.5), 3))
        finally:
            over.set()


def test_a_token_that_cannot_be_had_is_told(connect: Any) -> None:
    def token() -> str:
        raise LookupError

    with parted(good) as parts:
        for form in ("dicts", "batches"):
            with pytest.raises(da.ConfigError, match="request 1 of 3: the token callable raised LookupError"):
                FORMS[form](scan_of_parts(connect(parts.base_url, token=token), 3))
        assert parts.asked == []


@pytest.mark.slow
def test_a_service_that_asks_to_slow_down_is_obeyed(connect: Any) -> None:
    busy = http(b"", "429 Slow", headers=("Retry-After: 1",))
    begun = time.monotonic()
    with parted(lambda asked: busy if asked.part == 1 and asked.attempt == 0 else good(asked)) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=2), 6)
        assert rows_of_batches(scan) == rows_of_all(6)
        assert time.monotonic() - begun >= 1
        assert scan.last_stats.retries == 1


def test_a_service_that_asks_to_stay_away_for_too_long_is_told(connect: Any) -> None:
    busy = http(b"", "429 Slow", headers=("Retry-After: 901",))
    with parted(failing(1, busy)) as parts:
        with pytest.raises(da.ThrottledError, match="request 2 of 3") as caught:
            scan_of_parts(connect(parts.base_url), 3).to_dicts()
        assert (caught.value.retry_after, caught.value.attempts) == (901, 1)


@pytest.mark.slow
def test_the_time_is_that_of_each_request(connect: Any) -> None:
    def slowly(asked: Asked) -> bytes:
        time.sleep(0.3)
        return good(asked)

    with parted(slowly) as parts:
        client = connect(parts.base_url, timeout=1, concurrency=1)
        for form in ("dicts", "batches"):
            assert FORMS[form](scan_of_parts(client, 4)) == rows_of_all(4)


@pytest.mark.slow
def test_a_request_without_an_answer_has_its_time_each_time(connect: Any) -> None:
    with parted(lambda asked: good(asked) if asked.attempt or asked.part != 1 else SILENCE) as parts:
        scan = scan_of_parts(connect(parts.base_url, timeout=1), 3)
        assert scan.to_dicts() == rows_of_all(3)
        assert parts.asked.count(1) == 2


def all_silent(_asked: Asked) -> bytes:
    return SILENCE


ENDS: dict[str, Callable[[Any, Any], object]] = {
    "close the batches": lambda _client, batches: batches.close(),
    "close the client": lambda client, _batches: client.close(),
}


@pytest.mark.both_clients
@pytest.mark.parametrize("end", ENDS)
def test_closing_ends_all_that_are_under_way(connect: Any, end: str) -> None:
    with parted(lambda asked: good(asked) if asked.part == 0 else SILENCE) as parts:
        client = connect(parts.base_url, concurrency=4)
        batches = scan_of_parts(client, 9).batches()
        assert next(iter(batches)).num_rows == 2
        wait_until(lambda: len(parts.asked) >= 4)
        ENDS[end](client, batches)
        # That of the first answer may be kept for another call.
        wait_until(lambda: parts.server.open <= 1)
        with pytest.raises(da.StreamInterruptedError):
            next(iter(batches))


@pytest.mark.both_clients
def test_dropping_the_batches_ends_all_that_are_under_way(connect: Any) -> None:
    with parted(all_silent) as parts:
        batches = scan_of_parts(connect(parts.base_url, concurrency=4), 9).batches()
        wait_until(lambda: len(parts.asked) == 4)
        del batches
        assert gone(parts.server)


def test_closing_the_client_ends_what_is_collected() -> None:
    with parted(all_silent) as parts:
        client = da.Client(parts.base_url, token="tok-test")

        def close() -> None:
            wait_until(lambda: len(parts.asked) == 8)
            client.close()

        thread = threading.Thread(target=close)
        thread.start()
        with pytest.raises(da.ClientClosedError):
            scan_of_parts(client, 20).to_dicts()
        thread.join()
        assert gone(parts.server)
        assert len(parts.asked) == 8


def test_a_cancelled_wait_has_taken_nothing_of_several_answers() -> None:
    def slowly(asked: Asked) -> bytes:
        time.sleep(0.03)
        return good(asked)

    async def main() -> None:
        with parted(slowly) as parts:
            client = da.AsyncClient(parts.base_url, token="tok-test", concurrency=2)
            batches = scan_of_parts(client, 30).batches()
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
            assert rows == rows_of_all(30)
            assert cancelled > 3

    asyncio.run(main())


@pytest.mark.parametrize("form", FORMS)
def test_cancelling_ends_all_that_are_under_way(form: str) -> None:
    async def taken(scan: da.AsyncScan) -> None:
        if form == "batches":
            async for _ in scan.batches():
                pass
        else:
            await getattr(scan, form if form == "collect" else f"to_{form}")()

    async def main() -> None:
        with parted(all_silent) as parts:
            task = asyncio.create_task(taken(scan_of_parts(da.AsyncClient(parts.base_url, token="t"), 9)))
            while len(parts.asked) < 8:
                await asyncio.sleep(0.005)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert await asyncio.to_thread(gone, parts.server)

    asyncio.run(main())


@pytest.mark.parametrize("form", [name for name in FORMS if name != "batches"])
def test_a_failure_ends_all_that_are_under_way(connect: Any, form: str) -> None:
    def answers(asked: Asked) -> bytes:
        if asked.part:
            return SILENCE
        wait_until(lambda: len(parts.asked) == 4)
        return REFUSED

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=4), 4)
        with pytest.raises(da.RequestRejectedError):
            FORMS[form](scan)
        assert gone(parts.server)


@pytest.mark.both_clients
@pytest.mark.parametrize("requests", [4, 40])
def test_a_failure_ends_all_though_the_batches_are_still_held(connect: Any, requests: int) -> None:
    def answers(asked: Asked) -> bytes:
        if asked.part:
            return SILENCE
        wait_until(lambda: len(parts.asked) == 4)
        return REFUSED

    with parted(answers) as parts:
        batches = scan_of_parts(connect(parts.base_url, concurrency=4), requests).batches()
        with pytest.raises(da.RequestRejectedError):
            next(iter(batches))
        assert gone(parts.server)
        assert len(parts.asked) == 4
        assert not batches.stats


def of(*answers: list[Any]) -> Any:
    """A service whose parts have these values in a column `a`."""
    return parted(lambda asked: answer([{"n": asked.part, "a": value} for value in answers[asked.part]]))


def scan_of_values(client: Any, parts: int, **options: Any) -> Any:
    names = da.col("n").matches([str(part) for part in range(parts)])
    return client.scan_items("store", ["a"], names, item_type_id=7, values_per_request=1, **options)


def column(table: pa.Table) -> tuple[str, list[Any]]:
    return str(table.schema.field("a").type), table.column("a").to_pylist()


@pytest.mark.parametrize(
    ("answers", "kind", "found"),
    [
        ([[1, 2], [None], [3]], "int64", [1, 2, None, 3]),
        ([[1, 2], [2.5], [None]], "double", [1.0, 2.0, 2.5, None]),
        ([[None], [], [True]], "bool", [None, True]),
        ([[1], ["x"], [2.5]], "string", ["1", '"x"', "2.5"]),
        ([[1], [{"k": 1}], [2**70]], "string", ["1", '{"k":1}', str(2**70)]),
        ([[], [None], []], "string", [None]),
    ],
    ids=["whole numbers", "numbers", "truth", "mixed", "nested", "nothing"],
)
def test_types_are_inferred_over_the_rows_of_all_answers(
    connect: Any, answers: list[list[Any]], kind: str, found: list[Any]
) -> None:
    with of(*answers) as parts:
        scan = scan_of_values(connect(parts.base_url), len(answers))
        assert column(scan.to_arrow()) == (kind, found)
        assert [row["a"] for row in scan.to_dicts()] == [value for values in answers for value in values]


def types_of(scan: Any) -> list[str]:
    return [str(batch.to_arrow().schema.field("a").type) for batch in scan.batches()]


def test_in_batches_the_first_answer_with_rows_tells_the_types(connect: Any) -> None:
    with of([], [1.5, 2], [None], [3], []) as parts:
        scan = scan_of_values(connect(parts.base_url), 5)
        assert types_of(scan) == ["double"] * 3
        assert parts.asked[:3] == [0, 1, 2] or parts.asked[:2] == [0, 1]
        assert [row["a"] for batch in scan.batches() for row in batch.to_pylist()] == [1.5, 2.0, None, 3.0]


@pytest.mark.parametrize("later", [2.5, "x", True, 2**70, [1]])
def test_a_later_answer_of_other_types_is_told_with_what_mends_it(connect: Any, later: Any) -> None:
    answers: list[list[Any]] = [[], [1, 2], [3], [4, later]]
    with of(*answers) as parts:
        client = connect(parts.base_url)
        taken: list[Any] = []
        with pytest.raises(da.StreamInterruptedError, match="request 4 of 4") as caught:
            taken.extend(row["a"] for batch in scan_of_values(client, 4).batches() for row in batch.to_pylist())
        assert taken == [1, 2, 3]
        cause: Any = caught.value.__cause__
        assert isinstance(cause, da.RecordError)
        assert (cause.row, cause.column) == (1, "a")
        kind = "float64" if isinstance(later, float) else "json"
        assert caught.value.hint == f'pass schema={{"a": "{kind}"}}'
        mended = scan_of_values(client, 4, schema={"a": kind})
        found = [row["a"] for batch in mended.batches() for row in batch.to_pylist()]
        assert found == [1, 2, 3, 4, later]


def test_answers_without_rows_are_asked_for_one_by_one_until_types_are_known(connect: Any) -> None:
    with parted(lambda asked: answer(rows_of(asked.part, 0 if asked.part < 3 else 2))) as parts:
        scan = scan_of_parts(connect(parts.base_url), 8, schema=None)
        rows = [row for part in range(3, 8) for row in rows_of(part)]
        assert rows_of_batches(scan) == rows
        assert parts.asked[:4] == [0, 1, 2, 3]
        assert sorted(parts.asked) == list(range(8))
        for form in FORMS.values():
            assert form(scan) == rows


@pytest.mark.parametrize("schema", [TYPES, None], ids=["types known", "types unknown"])
def test_no_rows_at_all(connect: Any, schema: Any) -> None:
    with parted(lambda _asked: answer([])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4, schema=schema)
        for form in FORMS.values():
            assert form(scan) == []
            assert (scan.last_stats.rows, scan.last_stats.requests, scan.last_stats.absent) == (0, 4, [])
            assert scan.last_stats.empty_shape == "data.data []"
        kinds = [pa.string(), pa.string()] if schema is None else [pa.int64(), pa.string()]
        assert scan.to_arrow().schema.types == kinds
        assert scan.to_polars().columns == ["n", "text"]
        if not hasattr(scan, "client"):
            assert pa.table(scan).schema.types == kinds


def test_figures_are_those_of_all_answers(connect: Any) -> None:
    records: list[list[dict[str, Any]]] = [
        [{"n": 1, "more": 1}, {"n": 2, "more": None, "other": 2}],
        [],
        [{"n": 3, "text": None, "other": 3}],
    ]
    with parted(lambda asked: answer(records[asked.part])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        for use in FORMS.values():
            use(scan)
            stats = scan.last_stats
            assert (stats.rows, stats.requests, stats.attempts, stats.retries) == (3, 3, 3, 0)
            assert stats.bytes == sum(len(answer(rows).partition(b"\r\n\r\n")[2]) for rows in records)
            assert stats.extra_keys == {"more": 2, "other": 2}
            assert stats.absent == [], "one answer has it"
            assert stats.empty_shape is None
            assert 0 < stats.seconds < LONG


@every_form
def test_what_no_answer_has_is_warned_of_once(connect: Any, form: str) -> None:
    with parted(lambda asked: answer([{"n": asked.part}] if asked.part else [])) as parts:
        scan = scan_of_parts(connect(parts.base_url), 4)
        with pytest.warns(da.AbsentAttributeWarning, match="'text'") as caught:
            FORMS[form](scan)
        assert len(caught) == 1
        assert scan.last_stats.absent == ["text"]


@every_form
def test_another_total_of_one_answer_is_warned_of(connect: Any, form: str) -> None:
    def answers(asked: Asked) -> bytes:
        return answer(rows_of(asked.part), meta={"total": 3 if asked.part == 1 else 2})

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url), 3)
        with pytest.warns(da.IncompleteWarning, match="tells of 3 records and has 2") as caught:
            FORMS[form](scan)
        assert len(caught) == 1


def cut_in_vietnam(times: list[str]) -> da.Sandbox:
    """A service that cuts its days in another zone, with a code at each of these times."""
    service = da.Sandbox(switches={"day_zone": "Asia/Ho_Chi_Minh"})
    codes = [{"id": time, "name": "n", "allocated_time": time, "code_status": 3} for time in times]
    service.load("promotion_code", codes)
    return service


@pytest.mark.parametrize(("form", "ordered"), cycled(FORMS, [True, False]))
def test_rows_of_other_days_are_warned_of_once(connect: Any, form: str, ordered: Any) -> None:
    times = [f"2024-01-{day} {hour:02}:30:00" for day in range(14, 18) for hour in range(24)]
    days = {"allocated_time": da.days("2024-01-14", "2024-01-25"), "ordered": ordered}
    with cut_in_vietnam(times) as service:
        scan = connect(service).scan_codes(["id", "allocated_time"], **days)
        with pytest.warns(da.StrayDayWarning, match=r"4 of 5 days are like that.*UTC\+07:00") as caught:
            assert len(FORMS[form](scan)) == len(times)
        assert len(caught) == 1
        right = connect(service, timezone="Asia/Ho_Chi_Minh").scan_codes(["id", "allocated_time"], **days)
        assert len(FORMS[form](right)) == len(times)


def test_the_zone_that_is_told_explains_all_days(connect: Any) -> None:
    # Of the first day there is an evening, which many zones would explain; of the second there is all.
    times = ["2024-01-14 20:00:00", "2024-01-14 23:00:00", "2024-01-15 17:00:00", "2024-01-16 16:59:00"]
    with cut_in_vietnam(times) as service:
        days = da.days("2024-01-15", "2024-01-18")
        scan = connect(service).scan_codes(["id", "allocated_time"], allocated_time=days)
        with pytest.warns(da.StrayDayWarning, match=r"UTC\+07:00"):
            scan.collect()


def test_threads_share_the_batches_of_several_answers() -> None:
    with parted(good) as parts:
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
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url), 5)
        with scan.batches() as one, scan.batches() as other:
            pairs = [(a.to_pylist(), b.to_pylist()) for a, b in zip(one, other, strict=True)]
        assert [a for a, _ in pairs] == [b for _, b in pairs] == [rows_of(part) for part in range(5)]
        assert len(parts.asked) == 10


def test_many_requests_cost_little_beside_their_answers(connect: Any) -> None:
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url), 600)
        for form in ("dicts", "batches"):
            assert FORMS[form](scan) == rows_of_all(600)
        assert len(parts.asked) == 1_200
