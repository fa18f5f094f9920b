"""What a call returns takes at most `max_result_bytes=` of memory, however small the response was. Batches do not."""

from __future__ import annotations

import gzip
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.compressed import packed
from support.raw_server import RESPONSE, Close, always, http, serving

import dataaccess as da

MEBIBYTE = 2**20
ATTRIBUTES = [f"a{number}" for number in range(1_000)]


def empty_rows(count: int) -> bytes:
    """A response of rows without values."""
    return packed(gzip.compress(b'{"code":200,"data":{"status":true,"data":[' + b"{}," * (count - 1) + b"{}]}}", 9))


# Less than two kibibytes on the wire.
BOMB = empty_rows(300_000)
ENTRIES = packed(gzip.compress(b'{"code":200,"data":{"entries":[' + b"{}," * 999_999 + b"{}]}}", 9))

# Uses the bomb in one way, and reports the error and the growth of memory.
MEASURE = """
import re, sys
from pathlib import Path
import dataaccess as da

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

client = da.Client(sys.argv[1], token="tok-test", max_result_bytes=int(sys.argv[3]))
attributes = [f"a{number}" for number in range(1000)]
types = dict.fromkeys(attributes, "int64")
scan = client.scan_items("note", attributes, item_type_id=9, schema=types)
calls = {
    "search_items": lambda: client.search_items("note", attributes, item_type_id=9),
    "to_dicts": scan.to_dicts,
    "collect": scan.collect,
    "inferred": lambda: client.scan_items("note", attributes, item_type_id=9).collect(),
    "to_arrow": scan.to_arrow,
    "download_segment": lambda: client.download_segment(1),
    "batches": lambda: sum(batch.num_rows for batch in scan.batches()),
    "to_parquet": lambda: scan.to_parquet(sys.argv[4]),
    "to_jsonl": lambda: scan.to_jsonl(sys.argv[4]),
}
before = peak()
try:
    outcome = calls[sys.argv[2]]()
except da.ResponseError as error:
    outcome = f"{error.reason} {error.field} {error.limit} {'max_result_bytes' in str(error)}"
print(outcome, peak() - before, sep=";")
"""


def measured(response: bytes, call: str, limit: int, path: object = "") -> tuple[str, int]:
    with serving(always(response)) as server:
        words = [server.base_url, call, str(limit), str(path)]
        ended = subprocess.run([sys.executable, "-c", MEASURE, *words], capture_output=True, text=True, check=True)
    outcome, grown = ended.stdout.strip().split(";")
    return outcome, int(grown)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("call", ["search_items", "to_dicts", "collect", "inferred", "to_arrow", "download_segment"])
def test_a_small_response_of_many_rows_ends_before_it_takes_memory(call: str) -> None:
    limit = 64 * MEBIBYTE
    outcome, grown = measured(ENTRIES if call == "download_segment" else BOMB, call, limit)
    assert outcome == f"too_large result {limit} True"
    assert grown < limit + 128 * MEBIBYTE


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("call", ["batches", "to_parquet", "to_jsonl"])
def test_batches_and_files_stay_flat(call: str, tmp_path: Path) -> None:
    # As cells, these rows are 320 MB, and they arrive at once.
    outcome, grown = measured(empty_rows(20_000), call, 1, tmp_path / f"rows.{call.removeprefix('to_')}")
    assert outcome == ("20000" if call == "batches" else "None")
    assert grown < 160 * MEBIBYTE


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
        with pytest.raises(kinds.TooLarge, match="max_result_bytes") as caught:
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
            with pytest.raises(kinds.TooLarge, match="max_result_bytes") as caught:
                use()
            assert (caught.value.field, caught.value.limit) == ("result", MEBIBYTE)


def test_what_is_nested_counts() -> None:
    value: list[dict[str, int]] = [{}] * 100_000
    with serving(always(http({**RESPONSE, "data": {"status": True, "data": [{"a": value}]}}))) as server:
        client = da.Client(server.base_url, token="tok-test", max_result_bytes=4 * MEBIBYTE)
        for attribute in ("a", "b"):
            with pytest.raises(kinds.TooLarge, match="max_result_bytes"):
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
            with pytest.raises(kinds.TooLarge, match="max_result_bytes") as caught:
                call()
            assert (caught.value.field, caught.value.limit) == ("body", 1_000)


def test_the_default_is_half_of_the_memory() -> None:
    client = da.Client("http://127.0.0.1:9", token="tok-test")
    assert client.settings["max_result_bytes"].value is None
    assert client.with_options(max_result_bytes=5).settings["max_result_bytes"].value == 5


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
