"""The nightly job of docs/recipes.md, night after night: it grows, refreshes, and survives outages and tokens."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.pages import blocks
from support.runs import code, parts, some_days

import dataaccess as da

(SCRIPT,) = [block.parsed for _, block in blocks() if "def update(" in block.parsed]
ROWS = (3, 5, 2, 4, 1, 6)


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[da.Sandbox]:
    """The first days of January, at the address and with the token that the job finds."""
    monkeypatch.chdir(tmp_path)
    with some_days(ROWS) as service:
        monkeypatch.setenv("DATAACCESS_BASE_URL", service.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", service.issue_token())
        yield service


@pytest.fixture
def update(service: da.Sandbox) -> Callable[..., Any]:
    """The function of the job, whose script has run for today, when there were no codes."""
    namespace: dict[str, Any] = {}
    exec(SCRIPT, namespace)  # noqa: S102 - the block of our own page
    assert len(list(Path("codes").glob("day=*"))) == 30
    service.clear_requests()
    update: Callable[..., Any] = namespace["update"]
    return update


def test_night_after_night(update: Callable[..., Any], service: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = "history"
    assert update(folder, date(2024, 1, 4)).rows == sum(ROWS[:3])
    service.clear_requests()
    # A code of the second changes while the fourth ends.
    service.load("promotion_code", [code(2, 77)])
    report = update(folder, date(2024, 1, 5))
    asked = [task.day for task in report.tasks if not task.was_done]
    assert asked == ["2024-01-02", "2024-01-03", "2024-01-04"]
    assert len(service.requests) == 3
    # The service is down for a night, and the token expires the next one.
    with service.fault("status", status=400), pytest.raises(da.ScanIncompleteError, match="2024-01-03, 2024-01-04, "):
        update(folder, date(2024, 1, 6))
    monkeypatch.setenv("DATAACCESS_TOKEN", "expired")
    with pytest.raises(da.PermissionDeniedError):
        update(folder, date(2024, 1, 6))
    monkeypatch.setenv("DATAACCESS_TOKEN", service.issue_token())
    report = update(folder, date(2024, 1, 7))
    assert report.rows == sum(ROWS) + 1
    frame = pd.read_parquet(folder)
    assert len(frame) == sum(ROWS) + 1
    assert set(frame["day"].unique()) >= {"2024-01-02", "2024-01-06"}
    # 33 days by now: the 4th of December to the 6th of January.
    assert len(parts(Path(folder))) == (date(2024, 1, 7) - date(2023, 12, 5)).days


@pytest.mark.usefixtures("service")
def test_the_script_ends_with_one_line_for_cron(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("nightly.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, "nightly.py"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("ScanReport(0 rows of 30 tasks in 'codes': 30 new)")
    monkeypatch.setenv("DATAACCESS_TOKEN", "expired")
    done = subprocess.run([sys.executable, "nightly.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 77
    assert done.stderr.startswith("Cannot update the codes: scan_codes: ")
    assert done.stderr.count("\n") == 1
