"""Runs into a folder of an object store: what they put there, and who reads it.

`stateful/test_folders.py` has what they request, keep and replace, as of a folder of this machine.
"""

from __future__ import annotations

import json
import pickle
import re
import sys
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.hostile import is_one_harmless_line
from support.objects import KEY, SECRET, Store, error, temporary_files
from support.raw_server import Request
from support.runs import ROWS, ROWS_OF_DAYS, by_day, code, planted

import dataaccess as da

DENIED = (403, error("AccessDenied"))
PARTS = [f"codes/day=2024-01-{day:02}/part-0.parquet" for day in range(1, len(ROWS_OF_DAYS) + 1)]


def test_a_report_pickles_without_its_options(client: da.Client, store: Store) -> None:
    report = by_day(client, ["id"]).to_folder(store.url(), storage_options=store.options)
    assert SECRET not in repr(report) + repr(report.to_dict())
    content = pickle.dumps(report)
    assert SECRET.encode() not in content
    assert KEY.encode() not in content
    assert pickle.loads(content).rows == ROWS


def test_other_objects_are_refused_and_marks_of_folders_are_not(
    client: da.Client, service: da.Sandbox, store: Store
) -> None:
    scan = by_day(client, ["id"])
    store.put("other/notes.txt", b"mine")
    with pytest.raises(da.FolderError, match=r"`notes\.txt`") as caught:
        scan.to_folder(store.url("other"), storage_options=store.options)
    assert (caught.value.reason, caught.value.path) == ("unusable", store.url("other"))
    assert [name for name in store.names() if name.startswith("other")] == ["other/notes.txt"]
    store.put("codes/", b"")
    store.put("codes/_SUCCESS", b"")
    scan.to_folder(store.url(), storage_options=store.options)
    store.put("codes/day=2024-01-01/notes.txt", b"mine")
    with pytest.raises(da.FolderError) as caught:
        scan.to_folder(store.url(), storage_options=store.options)
    path = store.url("codes/day=2024-01-01/notes.txt")
    assert (caught.value.reason, caught.value.path) == ("unusable", path)
    assert service.requests


@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.GZ", "jsonl.zst"])
def test_a_file_may_be_an_object(connect: Any, service: da.Sandbox, store: Store, kind: str, tmp_path: Any) -> None:
    scan = by_day(connect(service), ["id", "name"])
    write = getattr(scan, f"to_{kind.partition('.')[0]}")
    write(store.url(f"a b/codes.{kind}"), storage_options=store.options)
    write(tmp_path / f"codes.{kind}")
    assert store.get(f"a b/codes.{kind}") == (tmp_path / f"codes.{kind}").read_bytes()
    assert temporary_files(tmp_path) == []


def test_requests_that_look_capped_are_split(connect: Any, store: Store) -> None:
    # Each day is written twice: as its response is, and once its parts are there.
    with da.Sandbox(switches={"maximum_rows": 10}) as service:
        service.load("promotion_code", [code(day, number) for day in (1, 2) for number in range(16)])
        days = da.days("2024-01-01", "2024-01-03")
        scan = connect(service, known_row_cap=10).scan_codes(allocated_time=days, on_suspected_cap="split")
        report = scan.to_folder(store.url(), storage_options=store.options)
    assert (report.rows, report.maybe_capped, len(set(store.ids()))) == (32, False, 32)
    assert store.names() == PARTS[:2]


def test_a_doubt_that_cannot_be_remembered_is_an_error(store: Store) -> None:
    with da.Sandbox() as service, service.client() as client:
        service.load("promotion_code", [code(1, n) for n in range(10)])
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-02"))
        scan.to_folder(store.url(), storage_options=store.options)
        before = store.get(PARTS[0])
        service.switch(maximum_rows=3)
        store.hook = lambda request: (
            DENIED if request.method in ("PUT", "POST") and ".parquet" in request.path else None
        )
        for on_doubt in ("warn", "error"):
            with pytest.raises((da.FileError, da.ScanIncompleteError), match=r" \(AccessDenied: "):
                scan.to_folder(store.url(), storage_options=store.options, refresh="all", on_doubt=on_doubt)
        assert store.get(PARTS[0]) == before


def test_a_part_that_may_not_be_read_is_reported_as_that(client: da.Client, store: Store) -> None:
    by_day(client).to_folder(store.url(), storage_options=store.options)
    store.hook = lambda request: DENIED if request.method == "GET" and ".parquet" in request.path else None
    status = da.folder_status(store.url(), storage_options=store.options)
    assert ["AccessDenied" in file.doubts[0] for file in status.files] == [True] * len(ROWS_OF_DAYS)
    with pytest.raises(da.FileError, match=r" \(AccessDenied: ") as caught:
        by_day(client).to_folder(store.url(), storage_options=store.options)
    assert caught.value.path in [store.url(part) for part in PARTS]


@pytest.mark.parametrize("times", [1, 100])
def test_a_part_that_is_replaced_while_it_is_read_is_read_anew(client: da.Client, store: Store, times: int) -> None:
    refused: list[str] = []

    def replace(request: Request) -> tuple[int, str] | None:
        if request.method != "GET" or "day%3D2024-01-02" not in request.path or len(refused) == times:
            return None
        store.put(PARTS[1], versions[len(refused) % 2])
        # As S3 answers; moto compares no ETag here.
        refused.append(request.headers["if-match"])
        return 412, error("PreconditionFailed")

    for folder in ("other", "codes"):
        by_day(client).to_folder(store.url(folder), storage_options=store.options)
    # Each of them has its own time of request.
    versions = [store.get(name) for name in (PARTS[1].replace("codes/", "other/"), PARTS[1])]
    assert versions[0] != versions[1]
    store.hook = replace
    if times == 1:
        assert da.folder_status(store.url(), storage_options=store.options).rows == ROWS
    else:
        with pytest.raises(da.FolderError) as caught:
            by_day(client).to_folder(store.url(), storage_options=store.options)
        assert (caught.value.reason, caught.value.path) == ("unusable", store.url(PARTS[1]))
    # Each time it asks for the version that is there.
    assert len(refused) == min(times, 3)
    assert all(one != other for one, other in pairwise(refused))


MEBIBYTE = 2**20


def scan_of(client: da.Client) -> da.Scan:
    return client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-01"))


def with_rows(store: Store, rows: int) -> bytes:
    """A part with so many equal rows in place of its own."""
    part = store.get(PARTS[0])
    first = pq.ParquetFile(BytesIO(part)).read().slice(0, 1)
    values = {name: pa.repeat(first[name][0], rows) for name in first.column_names}
    return planted(part, pa.table(values, schema=first.schema))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_planted_file_of_many_rows_ends_before_it_takes_memory(
    service: da.Sandbox, store: Store, tmp_path: Path
) -> None:
    limit = 16 * MEBIBYTE
    with service.client(max_result_bytes=limit) as client:
        scan_of(client).to_folder(store.url(), storage_options=store.options)
        content = with_rows(store, 20_000_000)
        assert len(content) < 256 * 1024
        store.put(PARTS[0], content)
        (tmp_path / PARTS[0]).parent.mkdir(parents=True)
        (tmp_path / PARTS[0]).write_bytes(content)
        for folder, options in ((store.url(), store.options), (str(tmp_path / "codes"), None)):
            pa.default_memory_pool().release_unused()
            # Begins to measure the peak of memory anew.
            Path("/proc/self/clear_refs").write_text("5")
            before = peak()
            with pytest.raises(kinds.TooLarge, match="max_result_bytes") as caught:
                scan_of(client).read_folder(folder, storage_options=options)
            assert (caught.value.field, caught.value.limit) == ("result", limit)
            assert peak() - before < limit + 64 * MEBIBYTE


def peak() -> int:
    """The most bytes that this process had at a time."""
    (kibibytes,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(kibibytes) * 1024


def test_a_file_larger_than_the_result_may_be_is_not_read(client: da.Client, store: Store, tmp_path: Path) -> None:
    scan_of(client).to_folder(store.url(), storage_options=store.options)
    scan_of(client).to_folder(tmp_path / "codes")
    small = scan_of(client.with_options(max_result_bytes=100))
    for folder, options in ((store.url(), store.options), (str(tmp_path / "codes"), None)):
        with pytest.raises(kinds.TooLarge, match="max_result_bytes") as caught:
            small.read_folder(folder, storage_options=options)
        assert (caught.value.field, caught.value.limit) == ("result", 100)
        assert caught.value.path is not None
        assert caught.value.path.endswith(PARTS[0])


def test_what_a_lock_says_is_shown_as_one_harmless_line(service: da.Sandbox, store: Store) -> None:
    host = "\x1b[2J\x1b]0;owned\x07\n\u202ehost" * 1_000
    for name in (host, host[:80]):
        store.put("codes/.dataaccess/lock", json.dumps({"host": name, "pid": 7, "id": "0"}).encode())
        with service.client() as client, pytest.raises(da.FolderLockedError) as caught:
            scan_of(client).to_folder(store.url(), storage_options=store.options)
        assert is_one_harmless_line(str(caught.value))
        assert len(str(caught.value)) < 1_000
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", caught.value.host or "")
