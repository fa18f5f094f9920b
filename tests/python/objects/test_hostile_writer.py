"""Who may write to a bucket may plant files and locks: what a reader notices, and that it keeps its memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.hostile import is_one_harmless_line
from support.objects import Store
from support.planted import planted

import dataaccess as da

PART = "codes/day=2024-01-01/part-0.parquet"
MEBIBYTE = 2**20


def scan_of(client: da.Client) -> da.Scan:
    return client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-01"))


def with_rows(store: Store, rows: int) -> bytes:
    """A part with so many equal rows in place of its own."""
    part = store.get(PART)
    first = pq.ParquetFile(BytesIO(part)).read().slice(0, 1)
    values = {name: pa.repeat(first[name][0], rows) for name in first.column_names}
    return planted(part, pa.table(values, schema=first.schema))


# Reads a folder, and reports the outcome and the growth of memory.
MEASURE = """
import re, sys
from pathlib import Path
import dataaccess as da

def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024

client = da.Client("sandbox:demo", max_result_bytes=int(sys.argv[2]))
scan = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-01"))
before = peak()
try:
    outcome = scan.read_folder(sys.argv[1]).num_rows
except da.ResponseError as error:
    outcome = f"{error.reason} {error.field} {error.limit} {'max_result_bytes' in str(error)}"
print(outcome, peak() - before, sep=";")
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("place", ["bucket", "folder"])
def test_a_planted_file_of_many_rows_ends_before_it_takes_memory(
    service: da.Sandbox, store: Store, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit = 16 * MEBIBYTE
    with service.client() as client:
        scan_of(client).to_folder(store.url(), storage_options=store.options)
    content = with_rows(store, 20_000_000)
    assert len(content) < 256 * 1024
    store.put(PART, content)
    folder = store.url()
    if place == "folder":
        folder = str(tmp_path / "codes")
        (tmp_path / PART).parent.mkdir(parents=True)
        (tmp_path / PART).write_bytes(content)
    for name, value in store.environment.items():
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-c", MEASURE, folder, str(limit)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    outcome, grown = ended.stdout.strip().split(";")
    assert outcome == f"too_large result {limit} True"
    assert int(grown) < limit + 64 * MEBIBYTE


def test_a_file_larger_than_the_result_may_be_is_not_read(service: da.Sandbox, store: Store, tmp_path: Path) -> None:
    with service.client() as client:
        scan_of(client).to_folder(store.url(), storage_options=store.options)
        scan_of(client).to_folder(tmp_path / "codes")
        small = scan_of(client.with_options(max_result_bytes=100))
        for folder, options in ((store.url(), store.options), (str(tmp_path / "codes"), None)):
            with pytest.raises(kinds.TooLarge, match="max_result_bytes") as caught:
                small.read_folder(folder, storage_options=options)
            assert (caught.value.field, caught.value.limit) == ("result", 100)
            assert caught.value.path is not None
            assert caught.value.path.endswith(PART)


def test_what_a_lock_says_is_shown_as_one_harmless_line(service: da.Sandbox, store: Store) -> None:
    host = "\x1b[2J\x1b]0;owned\x07\n\u202ehost" * 1_000
    for name in (host, host[:80]):
        store.put("codes/.dataaccess/lock", json.dumps({"host": name, "pid": 7, "id": "0"}).encode())
        with service.client() as client, pytest.raises(da.FolderLockedError) as caught:
            scan_of(client).to_folder(store.url(), storage_options=store.options)
        assert is_one_harmless_line(str(caught.value))
        assert len(str(caught.value)) < 1_000
        assert not re.search("[\x00-\x1f\x7f-\x9f\u202e]", caught.value.host or "")
