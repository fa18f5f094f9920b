"""Nights of one job, with a clock: after each, the folder is the service, or what is not is named.

Each fault that once ended with success and a wrong folder comes at least once, between nights that are killed, run
twice at once, or without a service: sixty nights into a folder of this machine, and twenty-seven into one of S3.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support import story_events as events
from support.commands import run_here
from support.night_folders import BucketFolder, LocalFolder, NightFolder
from support.objects import forwarded, moto_server
from support.story import BEGINS, TOKEN, Story

import dataaccess as da

__all__ = ["run_here"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(240),
    # The processes of the nights set how fast a lock runs out.
    pytest.mark.usefixtures("time_scale"),
    pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way"),
]

Events = dict[int, Callable[[Story], None]]

SIXTY: Events = {
    5: events.a_day_that_is_not_over,
    9: events.a_kill,
    12: events.a_refresh_by_less,
    13: events.the_night_after_without_refresh,
    15: events.a_response_without_data,
    18: events.two_at_once,
    21: events.a_column_is_renamed,
    22: events.a_column_is_still_renamed,
    23: events.a_column_is_still_renamed,
    24: events.a_column_is_back,
    26: events.another_platform,
    28: events.doubt_before_the_rename,
    30: events.a_kill,
    34: events.ages,
    38: events.a_snapshot,
    39: events.a_snapshot_one_of_whose_requests_shrank,
    40: events.a_snapshot_with_a_doubt,
    41: events.a_snapshot_that_is_complete_again,
    43: events.damage,
    46: events.an_outage,
    50: events.a_frozen_run,
    54: events.a_kill,
}
# The same faults, closer to each other.
IN_A_STORE: Events = dict(enumerate([event for _, event in sorted(SIXTY.items())], 4))


def tell(folder: NightFolder, nights: int, faults: Events, command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tells the story."""
    with da.Sandbox(now=BEGINS, token=TOKEN) as service:
        story = Story(service, folder, command)
        for name, value in story.environment().items():
            monkeypatch.setenv(name, value)
        for night in range(nights):
            story.begin(night)
            if night in faults:
                faults[night](story)
            # Whatever the night was, the job that cron starts again makes it good.
            story.succeeds()
        assert story.differing() == set()
        report = story.succeeds(settle=timedelta(hours=1))
        assert (report.rows, report.kept) == (len(story.rows), nights)
        story.platform.close()


def test_sixty_nights_into_a_folder(tmp_path: Path, run_here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    tell(LocalFolder(tmp_path / "codes"), 60, SIXTY, run_here, monkeypatch)


def test_nights_into_a_store(tmp_path: Path, run_here: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith(("AWS_", "GOOGLE_", "AZURE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with moto_server() as moto, forwarded(moto) as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        tell(BucketFolder(store), max(IN_A_STORE) + 2, IN_A_STORE, run_here, monkeypatch)
