"""Scans into files: which paths are accepted, and their errors."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest
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

    def answers(asked: ScanRequest) -> bytes:
        os.chdir(path.parent.parent)
        return ok_response(asked)

    with scan_server(answers) as parts:
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


@every_kind
@pytest.mark.parametrize("place", [None, 7, b"rows", ["rows"]])
def test_what_is_no_path_is_a_type_error(client: Any, kind: str, place: Any) -> None:
    with pytest.raises(TypeError):
        write(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")), kind, place)
