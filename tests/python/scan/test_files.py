"""Scans into files: a file is complete or absent whatever fails; where it goes, how it is packed, and open files."""

from __future__ import annotations

import gzip
import io
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import kinds
from support.arguments import about
from support.raw_server import Close, serving
from support.scan_requests import (
    SILENCE,
    ScanRequest,
    ThenClose,
    kind_of,
    ok_response,
    on_posix,
    rows_in,
    rows_of,
    rows_of_all,
    scan_of_parts,
    scan_server,
    write,
)
from support.streams import CLOSING, HEAD, OPENING, endless, in_parts, records, response_of, scan_of, whole

import dataaccess as da

DAY = da.on("2024-01-15")


MANY = 70_000
"""Rows of more than one batch, so that some are in the file when the response is cut off."""


def long(break_off: Callable[[int], int | None]) -> Any:
    """A long response, each time cut after so many rows."""

    def respond(connection: Any, number: int) -> None:
        count = break_off(number)
        connection.sendall(HEAD + OPENING + records(0, MANY if count is None else count))
        if count is None:
            connection.sendall(CLOSING)
        raise Close

    return serving(respond)


def test_rows_of_a_response_that_was_cut_off_are_not_in_the_file(connect: Any, path: Path) -> None:
    with long(lambda number: MANY - 1_000 * (number + 1) if number < 2 else None) as server:
        scan = scan_of(connect(server.base_url))
        write(scan, kind_of(path), path)
        assert [row["n"] for row in rows_in(path)] == list(range(MANY))
        assert len(server.requests) == 3
        assert (scan.last_stats.rows, scan.last_stats.retries) == (MANY, 2)


def test_types_of_rows_that_were_taken_back_bind_nothing(connect: Any, path: Path) -> None:
    def respond(connection: Any, number: int) -> None:
        first = records(0, MANY) if number == 0 else b'{"n":"a","text":1}'
        connection.sendall(HEAD + OPENING + first + (CLOSING if number else b""))
        raise Close

    with serving(respond) as server:
        scan = scan_of(connect(server.base_url))
        write(scan, kind_of(path), path)
        if kind_of(path) == "parquet":
            assert pq.read_table(path).to_pylist() == [{"n": "a", "text": 1}]
        elif kind_of(path) == "csv":
            assert path.read_text() == "n,text\na,1\n"


@pytest.mark.usefixtures("unchanged_folder")
def test_a_response_that_is_always_cut_off_leaves_no_file(connect: Any, path: Path) -> None:
    with long(lambda _number: MANY) as server:
        with pytest.raises(kinds.Truncated):
            write(scan_of(connect(server.base_url, retry_for=0.2)), kind_of(path), path)
        assert len(server.requests) == 2


@pytest.mark.usefixtures("unchanged_folder")
def test_a_response_that_turns_out_to_be_invalid_leaves_no_file(connect: Any, path: Path) -> None:
    parts = [b'{"code":200,"data":{"data":[', records(0, MANY), b'],"status":false}}']
    with serving(in_parts(parts)) as server, pytest.raises(da.ApiError, match=r"data\.status"):
        write(scan_of(connect(server.base_url)), kind_of(path), path)


@pytest.mark.usefixtures("unchanged_folder")
def test_one_of_several_long_responses_that_was_cut_off_leaves_no_file(connect: Any, path: Path) -> None:
    # More rows than are buffered: some are written before the response is cut off. Then the file has rows of another
    # request before them: `to_folder` has a file for each.
    def respond(asked: ScanRequest) -> bytes:
        return ok_response(asked) if asked.part != 1 else ThenClose(response_of(rows_of(1, 5 * MANY))[:-3])

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=1), 3)
        with pytest.raises(kinds.Truncated, match=r"\b2 of 3\b"):
            write(scan, kind_of(path), path)
        assert parts.asked.count(1) == 1


@pytest.mark.usefixtures("unchanged_folder")
def test_closing_the_client_leaves_no_file(path: Path) -> None:
    with scan_server(lambda _asked: SILENCE) as parts:
        client = da.Client(parts.base_url, token="tok-test")
        threading.Timer(0.2, client.close).start()
        with pytest.raises(da.ClientClosedError):
            write(scan_of_parts(client, 3), kind_of(path), path)


INTERRUPTED = """
import signal, sys
import dataaccess as da

signal.signal(signal.SIGINT, signal.default_int_handler)
client = da.Client(sys.argv[1], token="tok-test")
scan = client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
getattr(scan, "to_" + sys.argv[2])(sys.argv[3])
"""


@on_posix
@pytest.mark.usefixtures("unchanged_folder")
def test_ctrl_c_leaves_no_file_though_the_program_ends(path: Path) -> None:
    with serving(endless()) as server:
        command = [sys.executable, "-c", INTERRUPTED, server.base_url, kind_of(path), str(path)]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as writer:
            while not server.requests:
                time.sleep(0.01)
            time.sleep(0.2)
            writer.send_signal(signal.SIGINT)
            _, output = writer.communicate(timeout=20)
        assert "KeyboardInterrupt" in output
        drafts = [found.name for found in path.parent.iterdir() if found.name != path.name]
        assert drafts == []


def test_what_is_there_is_replaced_at_the_end_and_not_before(connect: Any, path: Path) -> None:
    path.write_text("of last week")
    seen: list[tuple[list[str], str]] = []

    def respond(asked: ScanRequest) -> bytes:
        seen.append((sorted(found.name for found in path.parent.iterdir()), path.read_text()))
        return ok_response(asked)

    with scan_server(respond) as parts:
        write(scan_of_parts(connect(parts.base_url, concurrency=1), 3), kind_of(path), path)
    for names, text in seen:
        assert text == "of last week"
        *draft, old = names
        assert old == path.name
        assert all(name.startswith(f".{path.name}.") and name.endswith(".tmp") for name in draft)
    assert any(len(names) == 2 for names, _ in seen), "it is written beside its place"
    assert len(seen) == 3
    assert rows_in(path) == rows_of_all(3)
    assert list(path.parent.iterdir()) == [path]


def test_two_may_write_at_once(sandbox: da.Sandbox, path: Path) -> None:
    scan = sandbox.client().scan_codes(["id"], allocated_time=da.days("2024-01-10", "2024-01-20"))
    threads = [threading.Thread(target=write, args=(scan, kind_of(path), path)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(path.parent.iterdir()) == [path]
    text = path.read_bytes()
    write(scan, kind_of(path), path)
    assert path.read_bytes() == text


MEMORY = """
import resource, sys
import dataaccess as da

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

client = da.Client(sys.argv[1], token="tok-test")
scan = client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
write = getattr(scan, "to_" + sys.argv[2])
write(sys.argv[3])
before = peak()
write(sys.argv[3])
print(scan.last_stats.rows, scan.last_stats.bytes >> 20, peak() - before)
"""


@on_posix
@pytest.mark.quiet
def test_a_large_response_costs_no_more_memory_than_a_small_one(path: Path) -> None:
    part = b"," + records(100_000, 5_000)
    counts = {0: 5 * 2**20 // len(part), 1: 80 * 2**20 // len(part)}

    def large(connection: Any, number: int) -> None:
        connection.sendall(HEAD + OPENING + part[1:])
        for _ in range(1, counts[number]):
            connection.sendall(part)
        connection.sendall(CLOSING)
        raise Close

    with serving(large) as server:
        command = [sys.executable, "-c", MEMORY, server.base_url, kind_of(path), str(path)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows, size, grown = map(int, output.split())
    assert rows == counts[1] * 5_000
    assert size >= 79
    assert grown < 60, f"{grown} MiB more for a response of {size} MiB"
    assert list(path.parent.iterdir()) == [path]


def test_a_path_is_a_string_a_path_or_a_file_url_as_of_the_call(
    connect: Any, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = path.with_name(f"夏 'ü\".{kind_of(path)}")
    monkeypatch.setenv("HOME", str(path.parent))

    def respond(asked: ScanRequest) -> bytes:
        os.chdir(path.parent.parent)
        return ok_response(asked)

    with scan_server(respond) as parts:
        scan = scan_of_parts(connect(parts.base_url), 2)
        url = path.as_uri()
        places: list[str | Path] = [path, f"{path.parent}/./{path.name}", path.name, url]
        places += [url.replace("//", "//localhost", 1), f"~/{path.name}", Path("~", path.name)]
        for given in places:
            monkeypatch.chdir(path.parent)
            write(scan, kind_of(path), given)
            assert rows_in(path) == rows_of_all(2)
            path.unlink()
        assert list(path.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("method", "name", "options"),
    [
        *[("to_csv", f"x.{suffix}", {}) for suffix in ("csv.bz2", "csv.XZ", "zip", "tgz", "xlsx", "arrow.gz")],
        *[("to_csv", f"x.{suffix}", {}) for suffix in ("parquet", "parquet.gz", "json")],
        *[("to_jsonl", f"x.{suffix}", {}) for suffix in ("jsonl.lz4", "json.zstd", "pq")],
        *[("to_parquet", f"x.{suffix}", {}) for suffix in ("parquet.gz", "zst", "feather", "csv", "JSONL", "csv.gz")],
        ("to_csv", "x.csv.gz", {"compression": "zstd"}),
        ("to_csv", "x.csv.gz", {"compression": None}),
        ("to_jsonl", "x.ZST", {"compression": "gzip"}),
        ("to_csv", "x.csv", {"compression": "bz2"}),
        ("to_csv", "x.csv", {"escape_formulas": 1}),
    ],
)
def test_what_would_be_a_wrong_file_is_refused_before_anything_is_sent(
    connect: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str, name: str, options: Any
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 1)
        for place in ("", "~/", f"file://{tmp_path}/", "s3://bucket/"):
            with pytest.raises(da.ValidationError, check=about(next(iter(options), "path"))):
                getattr(scan, method)(f"{place}{name}", **options)
        assert (list(tmp_path.iterdir()), parts.asked) == ([], [])
        # Other suffixes are the user's own.
        for other in ("x", "x.txt", "x.2024-01-15", "x.v1.5", "x.tmp", "gz"):
            getattr(scan, method)(tmp_path / other)
        assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


@pytest.mark.parametrize(
    ("name", "options", "compression"),
    [
        *((".gz", {}, "gzip"), (".zst", {}, "zstd"), (".GZ", {}, "gzip"), (".Zst", {}, "zstd")),
        *(("", {"compression": "gzip"}, "gzip"), (".gz", {"compression": "gzip"}, "gzip")),
        ("", {"compression": None}, None),
    ],
)
@pytest.mark.parametrize("method", ["to_csv", "to_jsonl"])
def test_text_files_are_compressed_as_their_name_or_the_caller_says(
    client: Any, tmp_path: Path, method: str, name: str, options: Any, compression: Any
) -> None:
    scan = client.scan_codes(allocated_time=DAY)
    name = f"x.{method.removeprefix('to_')}{name}"
    getattr(scan, method)(tmp_path / "plain")
    getattr(scan, method)(str(tmp_path / name), **options)
    plain, packed = (tmp_path / "plain").read_bytes(), (tmp_path / name).read_bytes()
    assert compression is None or len(packed) < len(plain)
    if compression == "zstd":
        assert pa.input_stream(tmp_path / name, compression="zstd").read() == plain
    else:
        assert (gzip.decompress(packed) if compression else packed) == plain


class Dribble(io.BytesIO):
    """A file that takes a few bytes at a time."""

    def write(self, data: Any) -> int:
        return super().write(data[:1000])


@pytest.mark.both_clients
@pytest.mark.parametrize("method", ["to_parquet", "to_csv", "to_jsonl"])
def test_an_open_file_gets_what_a_path_gets(client: Any, tmp_path: Path, method: str) -> None:
    scan = client.scan_codes(allocated_time=DAY)
    getattr(scan, method)(tmp_path / "x")
    expected = (tmp_path / "x").read_bytes()
    memory, dribble = io.BytesIO(b"before "), Dribble()
    memory.seek(0, io.SEEK_END)
    getattr(scan, method)(memory)
    assert memory.getvalue() == b"before " + expected
    getattr(scan, method)(dribble)
    assert dribble.getvalue() == expected
    if method != "to_parquet":
        getattr(scan, method)(packed := io.BytesIO(), compression="gzip")
        assert gzip.decompress(packed.getvalue()) == expected


def test_an_open_file_gets_nothing_of_a_failed_scan(connect: Any) -> None:
    with serving(in_parts(whole(3)[:-1])) as server:
        memory = io.BytesIO()
        with pytest.raises(kinds.Truncated):
            scan_of(connect(server.base_url, retry_for=0)).to_csv(memory)
    assert memory.getvalue() == b""
