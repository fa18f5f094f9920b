"""Scans into files: compression, the suffixes that say it, options, and open files in place of a path."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support import kinds
from support.arguments import about
from support.raw_server import serving
from support.streams import in_parts, scan_of, whole

import dataaccess as da


@pytest.mark.parametrize(
    ("name", "options", "compression"),
    [
        (".gz", {}, "gzip"),
        (".zst", {}, "zstd"),
        ("", {"compression": "gzip"}, "gzip"),
        (".GZ", {}, "gzip"),
        (".Zst", {}, "zstd"),
        (".gz", {"compression": "gzip"}, "gzip"),
        ("", {"compression": None}, None),
    ],
)
@pytest.mark.parametrize("method", ["to_csv", "to_jsonl"])
def test_text_files_are_compressed_as_their_name_or_the_caller_says(
    client: Any, tmp_path: Path, method: str, name: str, options: Any, compression: Any
) -> None:
    scan = client.scan_codes(allocated_time=da.on("2024-01-15"))
    name = f"x.{method.removeprefix('to_')}{name}"
    getattr(scan, method)(tmp_path / "plain")
    getattr(scan, method)(str(tmp_path / name), **options)
    plain, packed = (tmp_path / "plain").read_bytes(), (tmp_path / name).read_bytes()
    assert compression is None or len(packed) < len(plain)
    if compression == "zstd":
        assert pa.input_stream(tmp_path / name, compression="zstd").read() == plain
    else:
        assert (gzip.decompress(packed) if compression else packed) == plain


def test_other_libraries_read_compressed_files(client: Any, tmp_path: Path) -> None:
    scan = client.scan_codes(["id", "pool_id"], allocated_time=da.on("2024-01-15"))
    scan.to_csv(tmp_path / "x.csv.gz")
    scan.to_jsonl(tmp_path / "x.jsonl.zst")
    rows = scan.to_dicts()
    assert pd.read_csv(tmp_path / "x.csv.gz").to_dict("records") == rows
    assert pl.read_csv(tmp_path / "x.csv.gz").to_dicts() == rows
    lines: Any = duckdb.sql(f"from '{tmp_path}/x.jsonl.zst'")
    assert lines.fetchall() == [tuple(row.values()) for row in rows]


PLACES = ["", "~/", "file://HOME/", "s3://bucket/"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    ("method", "name", "options", "named"),
    [
        ("to_csv", "x.csv.bz2", {}, r"x\.csv\.bz2' .* \.bz2,.*\bto_csv\b.* \.csv, \.tsv"),
        ("to_csv", "x.csv.XZ", {}, r" \.xz,.* \.csv, \.tsv,.* \.gz, \.zst"),
        ("to_csv", "x.zip", {}, r" \.zip\b"),
        ("to_csv", "x.tgz", {}, r" \.tgz\b"),
        ("to_csv", "x.xlsx", {}, r" \.xlsx\b"),
        ("to_csv", "x.arrow.gz", {}, r" \.arrow\.gz\b"),
        ("to_csv", "x.parquet.gz", {}, r"\bto_parquet\b"),
        ("to_jsonl", "x.jsonl.lz4", {}, r" \.lz4,.*\bto_jsonl\b.* \.json, \.jsonl, \.ndjson"),
        ("to_jsonl", "x.json.zstd", {}, r" \.zstd\b"),
        ("to_parquet", "x.parquet.gz", {}, r" \.gz,.*\bto_parquet\b.* \.parquet, \.pq\b"),
        ("to_parquet", "x.zst", {}, r" \.zst\b"),
        ("to_parquet", "x.feather", {}, r" \.feather\b"),
        ("to_csv", "x.csv.gz", {"compression": "zstd"}, r"'zstd'.* \.gz\b"),
        ("to_csv", "x.csv.gz", {"compression": None}, "None"),
        ("to_jsonl", "x.ZST", {"compression": "gzip"}, r"'gzip'.* \.zst\b"),
    ],
)
def test_a_suffix_that_would_be_wrong_is_refused_before_anything_is_sent(
    connect: Any,
    sandbox: da.Sandbox,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    method: str,
    name: str,
    options: Any,
    named: str,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    sent = len(sandbox.requests)
    with pytest.raises(da.ValidationError, match=named, check=about(next(iter(options), "path"))):
        getattr(scan, method)(place.replace("HOME", str(tmp_path)) + name, **options)
    assert (list(tmp_path.iterdir()), len(sandbox.requests)) == ([], sent)


def test_other_suffixes_are_the_users_own(client: Any, tmp_path: Path) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    for name in ("x.txt", "x.2024-01-15", "x.v1.5", "x.tmp", "gz"):
        scan.to_csv(tmp_path / name)
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_options_of_files_are_checked_before_anything_is_sent(
    connect: Any, sandbox: da.Sandbox, tmp_path: Path
) -> None:
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    sent = len(sandbox.requests)
    for options in ({"compression": "bz2"}, {"escape_formulas": 1}):
        with pytest.raises(da.ValidationError) as caught:
            scan.to_csv(tmp_path / "x.csv", **options)
        assert [problem.argument for problem in caught.value.problems] == list(options)
    assert (list(tmp_path.iterdir()), len(sandbox.requests)) == ([], sent)


class Dribble(io.RawIOBase):
    """An unbuffered file that takes a few bytes at a time."""

    def __init__(self) -> None:
        super().__init__()
        self.content = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.content += bytes(data[:1000])
        return min(len(data), 1000)


@pytest.mark.both_clients
@pytest.mark.parametrize("method", ["to_parquet", "to_csv", "to_jsonl"])
def test_an_open_file_gets_what_a_path_gets(client: Any, tmp_path: Path, method: str) -> None:
    scan = client.scan_codes(allocated_time=da.on("2024-01-15"))
    getattr(scan, method)(tmp_path / "x")
    expected = (tmp_path / "x").read_bytes()
    memory, dribble = io.BytesIO(b"before "), Dribble()
    memory.seek(0, io.SEEK_END)
    getattr(scan, method)(memory)
    assert memory.getvalue() == b"before " + expected
    getattr(scan, method)(dribble)
    assert dribble.content == expected


def test_an_open_file_is_compressed_on_demand_alone(client: Any) -> None:
    scan = client.scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    plain, packed = io.BytesIO(), io.BytesIO()
    scan.to_csv(plain)
    scan.to_csv(packed, compression="gzip")
    assert gzip.decompress(packed.getvalue()) == plain.getvalue()


def test_an_open_file_gets_nothing_of_a_failed_scan(connect: Any) -> None:
    with serving(in_parts(whole(3)[:-1])) as server:
        memory = io.BytesIO()
        with pytest.raises(kinds.Truncated):
            scan_of(connect(server.base_url, retry_for=0)).to_csv(memory)
    assert memory.getvalue() == b""


def test_a_file_in_text_mode_is_refused_before_anything_is_sent(connect: Any, sandbox: da.Sandbox) -> None:
    scan = connect(sandbox).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    sent = len(sandbox.requests)
    with pytest.raises(TypeError, match="binary"):
        scan.to_csv(io.StringIO())
    with pytest.raises(TypeError, match="path"):
        scan.to_jsonl(5)
    assert len(sandbox.requests) == sent
