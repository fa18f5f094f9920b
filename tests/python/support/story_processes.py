"""The job of the story in a process of its own, which is killed or frozen; and its successor."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from support.story import TOKEN, Story

import dataaccess as da
from dataaccess import _native

# How many times faster than usual a lock runs out: after two seconds.
SCALE = 60
CHILD = """
import sys
import dataaccess as da
from dataaccess._native import set_time_scale

folder, stop, refresh, concurrency, scale = sys.argv[1:]
set_time_scale(int(scale))
client = da.Client(concurrency=int(concurrency))
scan = client.scan_codes(["id", "allocated_time", "code_status"], allocated_time=da.days("2024-03-01", stop))
try:
    scan.to_folder(folder, refresh=refresh, progress=lambda progress: print(progress.done, flush=True))
except da.FolderLockedError as error:
    print(error, file=sys.stderr)
    sys.exit(error.exit_code)
"""


@contextmanager
def another_process(story: Story, refresh: str, concurrency: int, scale: int = 1) -> Iterator[subprocess.Popen[str]]:
    """The job in a process of its own, which prints how many days are done."""
    environment = {**os.environ, **story.environment()}
    words = [story.folder.url, story.day(-1), refresh, str(concurrency), str(scale)]
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", CHILD, *words], env=environment, text=True, **pipes) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(process: subprocess.Popen[str], lines: int) -> None:
    """Waits until it has printed so many."""
    assert process.stdout is not None
    for _ in range(lines):
        assert process.stdout.readline()


def take_over(story: Story) -> None:
    """Runs all days, once the lock of the other run has run out."""
    end = time.monotonic() + 20
    _native.set_time_scale(SCALE)
    try:
        with da.Client(story.platform.base_url, token=TOKEN) as client:
            refreshed = None
            while refreshed is None:
                assert time.monotonic() < end
                with suppress(da.FolderLockedError):
                    refreshed = story.scan(client).to_folder(story.folder.url, refresh="all").refreshed
            assert refreshed == story.night + 1
    finally:
        _native.set_time_scale(1)
