"""`dataaccess status`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da


@pytest.fixture
def folder(run: Any, tmp_path: Path) -> Path:
    """Four days, with one missing."""
    for start, stop in (("2024-01-01", "2024-01-03"), ("2024-01-04", "2024-01-06")):
        base = ("--base-url", "sandbox:demo?until=2024-02-29", "--folder", str(tmp_path / "codes"))
        assert run("codes", "--days", start, stop, *base).code == 0
    return tmp_path / "codes"


def test_the_days_of_a_folder_are_shown_without_a_service(run: Any, folder: Path) -> None:
    ended = run("status", str(folder), terminal=True)
    assert (ended.code, "missing:   1 day: 2024-01-03" in ended.output) == (0, True)
    ended = run("status", str(folder))
    assert (ended.code, json.loads(ended.output)["missing_days"]) == (0, ["2024-01-03"])
    ended = run("status", str(folder), "--strict")
    assert (ended.code, "1 missing" in ended.reported) == (65, True)


def test_a_day_that_is_not_over_is_open_and_one_that_may_change_is_quiet(run: Any, tmp_path: Path) -> None:
    with da.Sandbox(now="2024-01-06T12:00") as service:
        days = [f"2024-01-0{day}" for day in range(1, 7)]
        service.load("promotion_code", [{"id": day, "allocated_time": f"{day} 09:00:00"} for day in days])
        token = tmp_path / "token"
        token.write_text(service.issue_token(), encoding="utf-8")
        base = ("--base-url", service.base_url, "--token-file", str(token), "--folder", str(tmp_path / "codes"))
        scan = ("codes", *base, "--json", "--settle", "3d", "--days", "2024-01-01")
        report = json.loads(run(*scan, "2024-01-06").output)
        assert (report["open_days"], report["unsettled_days"]) == ([], days[2:5])
        # They are requested again.
        report = json.loads(run(*scan, "2024-01-06").output)
        assert (report["kept"], report["refreshed"]) == (2, 3)
        status = ("status", str(tmp_path / "codes"), "--settle", "3d", "--strict")
        ended = run(*status)
        assert (ended.code, json.loads(ended.output)["unsettled_days"]) == (0, days[2:5])
        ended = run(*scan, "2024-01-07")
        assert (ended.code, json.loads(ended.output)["open_days"]) == (0, days[5:])
        ended = run(*status)
        assert (ended.code, json.loads(ended.output)["open_days"], "1 open" in ended.reported) == (65, days[5:], True)


def test_damage_is_65_and_no_folder_74(run: Any, folder: Path) -> None:
    (folder / "day=2024-01-01" / "part-0.parquet").write_bytes(b"")
    ended = run("status", str(folder))
    assert (ended.code, [file["state"] for file in json.loads(ended.output)["files"]].count("damaged")) == (65, 1)
    ended = run("status", str(folder / "nowhere"))
    assert (ended.code, ended.output) == (74, "")
