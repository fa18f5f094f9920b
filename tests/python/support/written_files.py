"""Files of rows in each format: writing and reading them."""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

KINDS = ["parquet", "csv", "jsonl"]


def write(scan: Any, kind: str, path: str | Path) -> None:
    """Writes a scan into a file of a format."""
    assert getattr(scan, f"to_{kind}")(path) is None


def rows_in(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of numbers and strings."""
    if path.suffix == ".parquet":
        return list(pq.read_table(path).to_pylist())
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".jsonl":
            return [json.loads(line) for line in file]
        return [{"n": int(row["n"]), "text": row["text"]} for row in csv.DictReader(file)]


@pytest.fixture(params=KINDS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A path for a file of each format, in a folder of its own."""
    (tmp_path / "folder").mkdir()
    return tmp_path / "folder" / f"rows.{request.param}"


def kind_of(path: Path) -> str:
    return path.suffix[1:]


@pytest.fixture
def unchanged_folder(path: Path) -> Iterator[None]:
    """Checks that the folder is unchanged at the end: no file, or an old one."""
    is_old = kind_of(path) != "parquet"
    if is_old:
        path.write_text("of last week")
    yield
    # A cancelled call ends its work a moment later.
    expected = [path.name] if is_old else []
    deadline = time.monotonic() + 2
    while (left := [found.name for found in path.parent.iterdir()]) != expected and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left == expected
    assert not is_old or path.read_text() == "of last week"


on_posix = pytest.mark.skipif(sys.platform == "win32", reason="signals, limits and modes are POSIX")
