"""The nightly job of the examples, as a process of its own: three nights, an outage and a token that expires.

`stateful/test_folders.py` has all other faults, of runs of any kind.
"""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from support.pages import ROOT, blocks
from support.runs import code, parts, rows_in, some_days
from support.scan_requests import wait_until

import dataaccess as da

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="cron and file modes of POSIX"),
]

# Codes of the first days of January.
COUNTS = (3, 5, 2, 4, 1, 6)
CODES = [code(day, number) for day, count in enumerate(COUNTS, 1) for number in range(count)]
TODAY, TOMORROW = "2024-01-20", "2024-01-21"
BEFORE = 16


SCRIPT = ROOT / "examples" / "nightly.py"


class Job:
    def __init__(self, service: da.Sandbox, place: Path) -> None:
        self.folder, self._service, self._token_file = place / "codes", service, place / "token"

    def give(self, token: str) -> None:
        self._token_file.touch(mode=0o600)
        self._token_file.write_text(token)

    def start(self, today: str) -> subprocess.Popen[str]:
        command = [sys.executable, str(SCRIPT), str(self.folder), "--today", today, "--retry-for", "20"]
        return subprocess.Popen(
            [*command, "--token-file", str(self._token_file)],
            env={**os.environ, "DATAACCESS_BASE_URL": self._service.base_url},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def succeeds(self, today: str) -> None:
        """Runs a night, of which cron has nothing to report."""
        assert ended(self.start(today)) == (0, "", "")

    def ids(self) -> list[str]:
        return sorted(row["id"] for row in rows_in(self.folder))


def ended(night: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        output, errors = night.communicate(timeout=50)
    finally:
        night.kill()
    return night.returncode, output, errors


def test_the_page_shows_the_script() -> None:
    assert SCRIPT.read_text(encoding="utf-8") in [block.parsed for _, block in blocks()]


def test_it_grows_and_requests_days_for_three_nights(tmp_path: Path) -> None:
    with da.Sandbox(now="2024-01-04T06:00") as service:
        service.load("promotion_code", CODES)
        job = Job(service, tmp_path)
        job.give(service.issue_token())
        job.succeeds("2024-01-04")
        assert len(service.requests) == 30
        service.load("promotion_code", [{**code(2, 0), "code_status": 4}, code(2, 78)], replace=True)
        service.advance(timedelta(days=1))
        job.succeeds("2024-01-05")
        # The first day is final. A row that comes now is not seen.
        service.load("promotion_code", [code(1, 77)])
        asked = []
        # Two nights are missed.
        for days, today in ((2, "2024-01-07"), (3, "2024-01-10")):
            service.advance(timedelta(days=days))
            service.clear_requests()
            job.succeeds(today)
            asked.append(len(service.requests))
    # What was not final, and what is new: the nights that were missed cost nothing.
    assert asked == [3 + 2, 3 + 3]
    frame = pd.read_parquet(job.folder)
    assert frame.groupby("day", observed=True).size().to_dict() == {
        "2024-01-01": 3,
        "2024-01-02": 6,
        "2024-01-03": 2,
        "2024-01-04": 4,
        "2024-01-05": 1,
        "2024-01-06": 6,
    }
    assert frame.set_index("id")["code_status"][code(2, 0)["id"]] == 4
    assert len(parts(job.folder)) == 36


def test_a_token_that_expires_is_read_again(tmp_path: Path) -> None:
    expected = sorted(row["id"] for row in CODES)
    with some_days(COUNTS) as service:
        tokens = [service.issue_token() for _ in range(3)]
        job = Job(service, tmp_path)
        job.give(tokens[0])
        with service.fault("stall", after=BEFORE) as held:
            night = job.start(TODAY)
            wait_until(lambda: len(parts(job.folder)) >= BEFORE and held.hits)
            job.give(tokens[1])
            service.revoke(tokens[0])
        assert ended(night) == (0, "", "")
        assert job.ids() == expected
        service.revoke(tokens[1])
        exit_code, output, line = ended(job.start(TOMORROW))
        assert (exit_code, output, line.count("\n")) == (77, "", 1)
        assert line.startswith("nightly: ")
        assert tokens[1] not in line
        job.give(tokens[2])
        job.succeeds(TOMORROW)
        assert job.ids() == expected
