"""Scans into files: which paths are accepted, and their errors."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path
from typing import Any

import pytest
from support.arguments import about
from support.scan_requests import ScanRequest, ok_response, rows_of_all, scan_of_parts, scan_server
from support.written_files import KINDS, kind_of, on_posix, rows_in, write

import dataaccess as da

every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.mark.parametrize("of", [str, Path, lambda path: Path(str(path.parent) + "/./" + path.name)])
def test_a_path_is_a_string_or_a_path(connect: Any, path: Path, of: Any) -> None:
    with scan_server(ok_response) as parts:
        write(scan_of_parts(connect(parts.base_url), 2), kind_of(path), of(path))
    assert rows_in(path) == rows_of_all(2)


def test_a_path_may_be_relative_and_of_any_letters(connect: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with scan_server(ok_response) as parts:
        write(scan_of_parts(connect(parts.base_url), 2), kind_of(path), f"夏 'ü\".{kind_of(path)}")
    assert rows_in(path.parent / f"夏 'ü\".{kind_of(path)}") == rows_of_all(2)


def test_a_relative_path_is_that_of_the_call(connect: Any, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)

    def respond(asked: ScanRequest) -> bytes:
        os.chdir(path.parent.parent)
        return ok_response(asked)

    with scan_server(respond) as parts:
        write(scan_of_parts(connect(parts.base_url), 2), kind_of(path), path.name)
    assert rows_in(path) == rows_of_all(2)


@on_posix
def test_a_file_has_the_mode_that_any_new_file_has(connect: Any, path: Path) -> None:
    (path.parent.parent / "new").touch()
    with scan_server(ok_response) as parts:
        write(scan_of_parts(connect(parts.base_url), 1), kind_of(path), path)
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((path.parent.parent / "new").stat().st_mode)


@every_kind
def test_a_path_that_is_invalid_is_reported_before_anything_is_sent(connect: Any, kind: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    places: dict[str | Path, int | None] = {
        tmp_path / "no" / "folder": errno.ENOENT,
        tmp_path / "file" / "rows": errno.ENOTDIR,
        tmp_path: None,
        "": None,
        "a\0b": None,
    }
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 2)
        for place, number in places.items():
            with pytest.raises(da.FileError) as caught:
                write(scan, kind, place)
            error = caught.value
            assert isinstance(error, OSError)
            assert error.errno == number
            assert error.path is not None
        assert parts.asked == []
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_a_name_that_is_too_long_is_reported_before_anything_is_sent(connect: Any, tmp_path: Path) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 2)
        for name in ("x" * 300, "rows.csv/"):
            with pytest.raises(da.FileError):
                scan.to_csv(f"{tmp_path}/{name}")
        assert parts.asked == []


@on_posix
@every_kind
@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o077, 0o600)])
def test_a_file_has_the_mode_of_any_new_file(connect: Any, kind: str, umask: int, mode: int, tmp_path: Path) -> None:
    path = tmp_path / f"rows.{kind}"
    before = os.umask(umask)
    try:
        with scan_server(ok_response) as parts:
            write(scan_of_parts(connect(parts.base_url), 1), kind, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@every_kind
def test_a_path_may_begin_in_the_home_folder_or_be_a_file_url(
    connect: Any, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    path = tmp_path / f"a b.{kind}"
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 2)
        for given in (f"~/a b.{kind}", Path("~", f"a b.{kind}"), path.as_uri(), f"file://localhost{path}"):
            write(scan, kind, given)
            assert rows_in(path) == rows_of_all(2)
            path.unlink()
        assert list(tmp_path.iterdir()) == []


URLS = ["ftp://host/codes", "http://host/codes", "hdfs://host/codes", "file://host/codes", Path("http://host/codes")]


@pytest.mark.parametrize("url", URLS)
def test_a_url_that_is_not_supported_is_refused_before_anything_is_sent(
    connect: Any, url: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 2)
        folders, files = (scan.to_folder, scan.read_folder), (scan.to_parquet, scan.to_csv, scan.to_jsonl)
        for argument, uses in {"folder": folders, "path": files}.items():
            for use in uses:
                with pytest.raises(da.ValidationError, match=r"file://, s3", check=about(argument)):
                    use(url)
        assert parts.asked == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("method", "name", "fitting"),
    [
        ("to_parquet", "rows.csv", "to_csv"),
        ("to_parquet", "rows.JSONL", "to_jsonl"),
        ("to_parquet", "rows.csv.gz", "to_csv"),
        ("to_csv", "rows.parquet", "to_parquet"),
        ("to_csv", "rows.json", "to_jsonl"),
        ("to_jsonl", "rows.pq", "to_parquet"),
    ],
)
def test_the_suffix_of_another_format_is_refused(
    connect: Any, tmp_path: Path, method: str, name: str, fitting: str
) -> None:
    with scan_server(ok_response) as parts:
        scan = scan_of_parts(connect(parts.base_url), 1)
        with pytest.raises(da.ValidationError, match=rf"{re.escape(name)}.*\b{fitting}\b", check=about("path")):
            getattr(scan, method)(tmp_path / name)
        assert parts.asked == []
        for other in ("rows", "rows.txt", "rows.json" if method == "to_jsonl" else "rows.dat"):
            getattr(scan, method)(tmp_path / other)


@every_kind
@pytest.mark.parametrize("place", [None, 7, b"rows", ["rows"]])
def test_what_is_no_path_is_a_type_error(client: Any, kind: str, place: Any) -> None:
    with pytest.raises(TypeError):
        write(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")), kind, place)
