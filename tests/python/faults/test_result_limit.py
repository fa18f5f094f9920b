"""What a call returns takes at most `max_result_bytes=` of memory, however small the response was. Batches do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.raw_server import RESPONSE, Close, always, http, serving

import dataaccess as da

MEBIBYTE = 2**20


ROWS = [{"id": f"row-{number:05}", "name": "x" * 100} for number in range(20_000)]
BODY = http({**RESPONSE, "data": {"status": True, "data": ROWS}})


def _collected(client: Any, days: int = 1) -> Any:
    day = da.days("2024-01-15", f"2024-01-{15 + days}")
    return client.scan_codes(["id", "name"], allocated_time=day)


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(
    ("use", "fits"),
    [
        (lambda scan: scan.to_dicts(), 20_000 * (128 + 2 * 64 + 109)),
        (lambda scan: scan.collect(), 20_000 * 160),
    ],
    ids=["rows", "columns"],
)
def test_the_rows_of_all_requests_count_together_and_void_ones_do_not(use: Callable[[Any], Any], fits: int) -> None:
    def respond(connection: Any, number: int) -> None:
        if number == 0:
            # These rows are void.
            connection.sendall(BODY[:-40])
            raise Close
        connection.sendall(BODY)

    with serving(respond) as server:
        client = da.Client(server.base_url, token="tok-test", max_result_bytes=fits)
        assert len(use(_collected(client))) == 20_000
        assert len(server.requests) == 2
        with pytest.raises(kinds.TooLarge) as caught:
            use(_collected(client, days=2))
    assert (caught.value.field, caught.value.limit) == ("result", fits)
    with serving(always(BODY)) as server:
        twice = da.Client(server.base_url, token="tok-test", max_result_bytes=2 * fits)
        assert len(use(_collected(twice, days=2))) == 40_000


def test_a_scan_that_splits_requests_counts_what_it_holds(tmp_path: Path) -> None:
    with serving(always(BODY)) as server:
        client = da.Client(server.base_url, token="tok-test", max_result_bytes=MEBIBYTE)
        days = da.days("2024-01-15", "2024-01-18")
        scan = client.scan_codes(["id", "name"], allocated_time=days, on_suspected_cap="split")
        for use in (scan.to_dicts, scan.collect, lambda: scan.to_parquet(tmp_path / "rows.parquet")):
            with pytest.raises(kinds.TooLarge) as caught:
                use()
            assert (caught.value.field, caught.value.limit) == ("result", MEBIBYTE)


def test_what_is_nested_counts() -> None:
    value: list[dict[str, int]] = [{}] * 100_000
    with serving(always(http({**RESPONSE, "data": {"status": True, "data": [{"a": value}]}}))) as server:
        client = da.Client(server.base_url, token="tok-test", max_result_bytes=4 * MEBIBYTE)
        for attribute in ("a", "b"):
            with pytest.raises(kinds.TooLarge):
                client.search_items("note", [attribute], item_type_id=9)


def test_a_body_that_is_longer_than_the_result_may_be_is_not_read() -> None:
    with serving(always(http({**RESPONSE, "data": {"entries": [{"a": "x" * MEBIBYTE}]}}))) as server:
        client = da.Client(server.base_url, token="tok-test", max_result_bytes=1_000)
        calls: list[Callable[[], object]] = [
            lambda: client.download_segment(1),
            lambda: client.wait_for_segment(1, timeout=60),
            lambda: client.post("/access/api/x", {}),
        ]
        for call in calls:
            with pytest.raises(kinds.TooLarge) as caught:
                call()
            assert (caught.value.field, caught.value.limit) == ("body", 1_000)


@pytest.mark.parametrize("limit", [8_191, 8_192, 8_193, 20_000, 29_999, 40_000])
def test_a_limit_within_a_chunk_of_several_batches_gives_all_rows_below_it(limit: int) -> None:
    rows = [{"id": f"{number}"} for number in range(30_000)]
    with serving(always(http({**RESPONSE, "data": {"status": True, "data": rows}}))) as server:
        client = da.Client(server.base_url, token="tok-test")
        expected = [row["id"] for row in rows[:limit]]
        day = da.on("2024-01-15")
        assert [row["id"] for row in client.search_codes(["id"], allocated_time=day, limit=limit)] == expected
        scan = client.scan_codes(["id"], allocated_time=day, limit=limit)
        assert scan.to_arrow().column("id").to_pylist() == expected
        assert sum(batch.num_rows for batch in scan.batches()) == len(expected)
