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


def split(client: da.Client) -> da.Scan:
    days = da.days("2024-01-15", "2024-01-18")
    return client.scan_codes(["id", "name"], allocated_time=days, on_suspected_cap="split")


NESTED = http({**RESPONSE, "data": {"status": True, "data": [{"a": [{}] * 100_000}]}})
ENTRIES = http({**RESPONSE, "data": {"entries": [{"a": "x" * MEBIBYTE}]}})

# The response, `max_result_bytes`, what is larger, and the call. A scan that splits requests counts what it holds.
LARGE: dict[str, tuple[bytes, int, str, Callable[[da.Client, Path], object]]] = {
    "split rows": (BODY, MEBIBYTE, "result", lambda client, _: split(client).to_dicts()),
    "split columns": (BODY, MEBIBYTE, "result", lambda client, _: split(client).collect()),
    "split file": (BODY, MEBIBYTE, "result", lambda client, path: split(client).to_parquet(path / "rows.parquet")),
    "nested": (NESTED, 4 * MEBIBYTE, "result", lambda client, _: client.search_items("note", ["a"], item_type_id=9)),
    "nested, not asked for": (
        *(NESTED, 4 * MEBIBYTE, "result"),
        lambda client, _: client.search_items("note", ["b"], item_type_id=9),
    ),
    "download": (ENTRIES, 1_000, "body", lambda client, _: client.download_segment(1)),
    "wait": (ENTRIES, 1_000, "body", lambda client, _: client.wait_for_segment(1, timeout=60)),
    "free call": (ENTRIES, 1_000, "body", lambda client, _: client.post("/access/api/x", {})),
}


@pytest.mark.parametrize("case", LARGE)
def test_what_is_larger_than_the_result_may_be_is_an_error(tmp_path: Path, case: str) -> None:
    response, limit, field, call = LARGE[case]
    with serving(always(response)) as server:
        client = da.Client(server.base_url, token="tok-test", max_result_bytes=limit)
        with pytest.raises(kinds.TooLarge) as caught:
            call(client, tmp_path)
    assert (caught.value.field, caught.value.limit) == (field, limit)


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
