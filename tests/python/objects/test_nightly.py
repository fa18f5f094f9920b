"""The nightly job of the examples with its folder in a bucket."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from support.nightly import Job
from support.objects import Store
from support.runs import ROWS, some_days

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way"),
]

LOCK = "codes/.dataaccess/lock"
TODAY = "2024-01-09"


def days(store: Store) -> list[str]:
    """The days that are done."""
    return [name for name in store.names() if name.endswith(".parquet")]


def test_a_killed_night_is_continued_in_a_bucket_and_the_next_one_adds_its_day(store: Store, tmp_path: Path) -> None:
    with some_days() as service:
        job = Job(service.base_url, store.url(), tmp_path / "token", {**os.environ, **store.environment})
        job.give(service.issue_token())
        with service.fault("stall", after=25), job.started(TODAY) as night:
            until = time.monotonic() + 20
            while len(days(store)) < 25:
                assert time.monotonic() < until
                time.sleep(0.01)
            night.process.send_signal(signal.SIGKILL)
            night.process.wait()
        assert len(days(store)) == 25
        # The lock of a killed run holds for two minutes.
        exit_code, line = job.fails(TODAY)
        assert (exit_code, f" {night.process.pid} " in line) == (75, True), line
        store.delete(LOCK)
        job.succeeds(TODAY)
        assert len(days(store)) == 30
        service.clear_requests()
        job.succeeds("2024-01-10")
        assert len([request for request in service.requests if request.content]) == 1
    assert len(days(store)) == 31
    assert len(store.ids()) == len(set(store.ids())) == ROWS
    assert LOCK not in store.names()
