"""The nightly job of the examples, as a process of its own: three nights, an outage and a token that expires.

`stateful/test_folders.py` has all other faults, of runs of any kind.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

import pandas as pd
import pytest
from support.pages import ROOT, blocks
from support.runs import code, parts, rows_in, some_days

import dataaccess as da

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="cron and file modes of POSIX"),
]

# Codes of the first days of January.
COUNTS = (3, 5, 2, 4, 1, 6)
CODES = [code(day, number) for day, count in enumerate(COUNTS, 1) for number in range(count)]
# The month before it ends with days without codes, which are refreshed.
TODAY, TOMORROW = "2024-01-20", "2024-01-21"
BEFORE = 16


SCRIPT = ROOT / "examples" / "nightly.py"


@dataclass
class Job:
    """The job for one service and folder."""

    base_url: str
    folder: str
    token_file: Path
    environment: dict[str, str] = field(default_factory=dict)

    def give(self, token: str) -> None:
        """Writes the token file."""
        self.token_file.touch(mode=0o600)
        self.token_file.write_text(token)

    def command(self, today: str, retry_for: float) -> list[str]:
        """The command of a night."""
        options = ["--today", today, "--token-file", str(self.token_file), "--retry-for", str(retry_for)]
        return [sys.executable, str(SCRIPT), self.folder, *options]

    @contextmanager
    def started(self, today: str, retry_for: float = 20, within: tuple[str, ...] = ()) -> Iterator[Night]:
        """Starts a night, within a command that limits it."""
        with subprocess.Popen(
            [*within, *self.command(today, retry_for)],
            env={**self.environment, "DATAACCESS_BASE_URL": self.base_url},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield Night(process)
            finally:
                process.kill()

    def succeeds(self, today: str) -> None:
        """Runs a night, of which cron has nothing to report."""
        with self.started(today) as night:
            night.succeeds()

    def fails(self, today: str, retry_for: float = 20, within: tuple[str, ...] = ()) -> tuple[int, str]:
        """Runs a night that fails. Gives the exit code and the line."""
        with self.started(today, retry_for, within) as night:
            return night.fails()


@dataclass(frozen=True)
class Night:
    """A process of the job."""

    process: subprocess.Popen[str]

    def succeeds(self) -> None:
        """Waits for a success, which prints nothing."""
        output = self.process.communicate(timeout=50)
        assert (self.process.returncode, *output) == (0, "", "")

    def fails(self) -> tuple[int, str]:
        """Waits for a failure, which prints one line. Gives the exit code and the line."""
        output, line = self.process.communicate(timeout=50)
        assert output == ""
        assert line.startswith("nightly: ")
        assert line.count("\n") == 1
        return self.process.returncode, line


def done(job: Job) -> list[Path]:
    """The days that are done."""
    return parts(Path(job.folder))


@contextmanager
def held(service: da.Sandbox, job: Job) -> Iterator[tuple[Night, Callable[[], None]]]:
    """Starts a night in which some days are done. The others are held up until the function that it gives is called."""
    with ExitStack() as faults:
        faults.enter_context(service.fault("stall", after=BEFORE))
        with job.started(TODAY) as night:
            until = time.monotonic() + 20
            while len(done(job)) < BEFORE:
                assert time.monotonic() < until
                time.sleep(0.01)
            yield night, faults.close


def assert_complete(job: Job) -> None:
    """Each row is there once."""
    assert sorted(row["id"] for row in rows_in(Path(job.folder))) == sorted(row["id"] for row in CODES)


def test_the_page_shows_the_script() -> None:
    assert SCRIPT.read_text(encoding="utf-8") in [block.parsed for _, block in blocks()]


def test_it_grows_and_requests_days_for_three_nights(tmp_path: Path) -> None:
    with da.Sandbox(now="2024-01-04T06:00") as service:
        service.load("promotion_code", CODES)
        job = Job(service.base_url, str(tmp_path / "codes"), tmp_path / "token", dict(os.environ))
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
    assert len(done(job)) == 36


def test_a_token_that_expires_is_read_again(tmp_path: Path) -> None:
    with some_days(COUNTS) as service:
        job = Job(service.base_url, str(tmp_path / "codes"), tmp_path / "token", dict(os.environ))
        job.give(service.issue_token())
        tokens = [job.token_file.read_text(), *(service.issue_token() for _ in range(2))]
        with held(service, job) as (night, release):
            job.give(tokens[1])
            service.revoke(tokens[0])
            release()
            night.succeeds()
        assert_complete(job)
        service.revoke(tokens[1])
        exit_code, line = job.fails(TOMORROW)
        assert exit_code == 77
        assert tokens[1] not in line
        job.give(tokens[2])
        job.succeeds(TOMORROW)
        assert_complete(job)
