"""A run that is interrupted by Ctrl-C, by asyncio or by a fork: finished tasks are kept, and the next run resumes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.forking import count, in_child
from support.killed_runs import killed
from support.runs import DAYS, ROWS, by_day, rows_in, service, some_days, tasks_done

import dataaccess as da

__all__ = ["service"]

CONCURRENCY = 2


@pytest.fixture(scope="module")
def store() -> Iterator[da.Sandbox]:
    """Responses take a while, so that there is something to interrupt."""
    with some_days(latency=0.1) as service:
        yield service


def kept(error: BaseException, folder: Path) -> int:
    """How many of the 8 tasks the note of an error says are in the folder."""
    (note,) = error.__notes__
    found = re.search(rf"\b(\d) of 8 .* {re.escape(str(folder))}(?!\S*/)", note)
    assert found, note
    return int(found[1])


def check_it_continues(scan: da.Scan, service: da.Sandbox, folder: Path) -> None:
    """Another run, at once, runs only open tasks; at most those in flight are requested again."""
    report = scan.to_folder(folder)
    assert 3 <= report.kept < 8
    assert len(service.requests) <= 8 + CONCURRENCY
    assert report.rows == len(rows_in(folder)) == ROWS
    assert len(tasks_done(folder)) == 8


@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way")
@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_run_at_once_and_the_next_continues(service: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(service.client(concurrency=CONCURRENCY))
    sent: list[float] = []

    def interrupt() -> None:
        while len(tasks_done(tmp_path)) < 3:
            time.sleep(0.005)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt) as caught:
        scan.to_folder(tmp_path)
    # The limit is 150 ms; this limit is larger, for busy machines, and is far below any time-out.
    assert time.monotonic() - sent[0] < 2
    thread.join()
    assert 2 <= kept(caught.value, tmp_path) < 8
    check_it_continues(scan, service, tmp_path)


def test_a_run_cancelled_by_asyncio_can_be_resumed(service: da.Sandbox, tmp_path: Path) -> None:
    async def main() -> None:
        scan = by_day(service.async_client(concurrency=CONCURRENCY))
        third = asyncio.Event()

        def on_progress(progress: da.Progress) -> None:
            if progress.done == 3:
                third.set()

        run = asyncio.create_task(scan.to_folder(tmp_path, progress=on_progress))
        await third.wait()
        run.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await run
        assert 1 <= kept(caught.value, tmp_path) < 8

    asyncio.run(main())
    check_it_continues(by_day(service.client()), service, tmp_path)


def test_the_event_loop_is_not_blocked_by_a_run(service: da.Sandbox, tmp_path: Path) -> None:
    async def main() -> int:
        run = asyncio.create_task(by_day(service.async_client()).to_folder(tmp_path))
        turns = 0
        while not run.done():
            await asyncio.sleep(0.001)
            turns += 1
        assert (await run).rows == ROWS
        return turns

    assert asyncio.run(main()) > 10


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_runs_with_the_client_of_its_parent(service: da.Sandbox, tmp_path: Path) -> None:
    client = service.client()
    assert count(client) == 0

    def run() -> Any:
        report = client.scan_codes(allocated_time=DAYS).to_folder(tmp_path)
        return report.rows, report.kept

    assert in_child(run) == repr((ROWS, 0))
    assert in_child(run) == repr((ROWS, 8))
    assert run() == (ROWS, 8)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_forked_during_a_run_neither_shares_nor_opens_the_folder(service: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(service.client(concurrency=1))
    messages: list[str] = []

    def on_progress(progress: da.Progress) -> None:
        if progress.done == 2:
            messages.append(in_child(lambda: scan.to_folder(tmp_path)))

    report = scan.to_folder(tmp_path, progress=on_progress)
    assert re.match(rf"FolderLockedError: `{re.escape(str(tmp_path))}` .* {os.getpid()}\b", messages[0])
    # The child has ended, and the lock was still its parent's.
    assert report.rows == len(rows_in(tmp_path)) == ROWS
    assert len(service.requests) == 8


TASKS = 40
KILLS = 8


@pytest.mark.fault("S1")
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way")
def test_a_killed_run_continues_where_it_was(tmp_path: Path) -> None:
    killed_run = killed(tmp_path / "run", tasks=TASKS, kills=KILLS, seed=1)
    # A machine that is slow to kill lets more be done in between.
    assert killed_run.kills >= KILLS // 2
    assert killed_run.refusals == 1
    assert killed_run.failures > 0
    assert sum(killed_run.again) > 0, "no kill hit a task in flight"
