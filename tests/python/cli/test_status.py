"""`dataaccess status`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def folder(run: Any, tmp_path: Path) -> Path:
    """Four days, with one missing."""
    for start, stop in (("2024-01-01", "2024-01-03"), ("2024-01-04", "2024-01-06")):
        base = ("--base-url", "sandbox:demo?until=2024-02-29", "--folder", str(tmp_path / "codes"))
        assert run("scan", "codes", "--days", start, stop, *base).code == 0
    return tmp_path / "codes"


def test_the_days_of_a_folder_are_shown_without_a_service(run: Any, folder: Path) -> None:
    ended = run("status", str(folder), terminal=True)
    assert ended.code == 0
    assert "missing:   1 day: 2024-01-03" in ended.output
    ended = run("status", str(folder))
    assert (ended.code, json.loads(ended.output)["missing_days"]) == (0, ["2024-01-03"])
    ended = run("status", str(folder), "--strict")
    assert (ended.code, "1 missing" in ended.reported) == (65, True)
    ended = run("status", str(folder), "--settle", "1000000h", "--strict")
    assert "1 missing, 4 open" in ended.reported


def test_a_day_whose_folder_is_empty_is_missing(run: Any, folder: Path) -> None:
    (folder / "day=2024-01-02" / "part-0.parquet").unlink()
    ended = run("status", str(folder))
    assert json.loads(ended.output)["missing_days"] == ["2024-01-02", "2024-01-03"]


def test_damage_is_65_and_no_folder_74(run: Any, folder: Path) -> None:
    (folder / "day=2024-01-01" / "part-0.parquet").write_bytes(b"")
    ended = run("status", str(folder))
    assert (ended.code, json.loads(ended.output)["damaged"]) == (65, 1)
    ended = run("status", str(folder / "nowhere"))
    assert (ended.code, ended.output) == (74, "")
