"""What happens in a night of the story: each fault that once ended with success and a wrong folder.

The ids are those of `docs/reliability.md`.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from support import kinds
from support.changed_responses import (
    ChangedResponses,
    day_of,
    nothing,
    one_row_of_nulls,
    records,
    renamed,
    without_data,
)
from support.parts import in_parts
from support.runs import damaged, doubtful
from support.story import ATTRS, BEGINS, CUSTOMERS, FIRST, REFRESHED, SETTLE, TOKEN, Story, doubtful_days
from support.story_processes import SCALE, another_process, take_over, wait_for

import dataaccess as da


def a_day_that_is_not_over(story: Story) -> None:
    """S11. Cron asks for today too, at noon."""
    story.wait_until(BEGINS + timedelta(days=story.night, hours=9, minutes=45))
    today, story.open_days = story.day(-1), 1
    story.load(today, "morning", 5, "08:00:00")
    assert story.succeeds().open_days == [today]
    story.load(today, "afternoon", 7, "15:00:00")
    assert today in story.differing()


def requested_at(file: da.reports.FileReport) -> datetime:
    """When a file that can be read was requested."""
    assert file.requested_at is not None
    return file.requested_at


def ages(story: Story) -> None:
    """S15. Codes of other weeks were used since: only a refresh of that age brings them."""
    report = story.succeeds()
    oldest = min(report.files, key=requested_at)
    assert oldest.state == "kept"
    story.change({str(oldest.day)}, every=1)
    assert story.differing() == {str(oldest.day)} - story.refreshed_days()
    assert story.run(refresh=str(oldest.day)).refreshed > 0
    assert story.differing() == set()
    early = {str(FIRST + timedelta(days=ago)) for ago in range(3)}
    story.change(early, every=1)
    newer = story.succeeds(refresh="all")
    assert min(map(requested_at, newer.files)) > requested_at(oldest)


def snapshot(story: Story) -> da.FolderReport:
    """Runs a scan without days of several requests, into a folder of its own."""
    story.load(story.day(), f"late-{story.night}-{len(story.rows)}", 3)
    since = in_parts(
        1,
        story.client.scan_codes,
        ATTRS,
        allocated_time=da.since(str(FIRST)),
        allocated_audience=CUSTOMERS,
    )
    with story.logged() as logged:
        report: da.FolderReport = since.to_folder(story.folder.beside().url)
    assert len(doubtful(story.folder.beside().status())) == len(doubtful(report))
    for number, file in enumerate(report.files):
        if not file.doubts:
            continue
        doubts = [record for record in logged if record.levelname == "WARNING"]
        named = [vars(each)["doubtful_days"] for each in doubts if f"request {number + 1}:" in each.getMessage()]
        assert any(named), [each.getMessage() for each in doubts]
    code, _, _ = story.command("status", story.folder.beside().url, "--strict")
    assert code == (65 if doubtful(report) else 0)
    return report


def of_customers(story: Story, customers: Sequence[str]) -> set[Any]:
    """What the service has of these, as rows of the folder."""
    rows = [row for row in story.rows.values() if row["allocated_audience"] in customers]
    return {(row["id"], row["allocated_time"], row["code_status"]) for row in rows}


def a_snapshot(story: Story) -> None:
    """S13. Each run makes it anew."""
    for _ in range(2):
        assert doubtful_days(snapshot(story)) == set()
        assert story.folder.beside().rows()[""] == of_customers(story, CUSTOMERS)


def a_snapshot_one_of_whose_requests_shrank(story: Story) -> None:
    """S12, S13. Its file is kept, from this night on."""

    def shrunk(request: str, response: Any) -> Any:
        return records([]) if CUSTOMERS[1] in request else response

    story.platform.change = shrunk
    a_snapshot_with_a_doubt(story)


def a_snapshot_with_a_doubt(story: Story) -> None:
    """S12, S13. The others are requested anew each night."""
    before = len(story.platform.asked)
    report = snapshot(story)
    assert len(story.platform.asked) == before + len(CUSTOMERS)
    assert [bool(task.doubts) for task in report.files] == [False, True, False]
    rows = story.folder.beside().rows()[""]
    assert of_customers(story, [CUSTOMERS[0], CUSTOMERS[2]]) <= rows
    assert rows != of_customers(story, CUSTOMERS)


def a_snapshot_that_is_complete_again(story: Story) -> None:
    """S13. The doubt is over."""
    story.platform.change = None
    a_snapshot(story)


def another_platform(story: Story) -> None:
    """S14. By its address, and the rows of a sandbox even where another address is allowed."""
    with da.Sandbox(token=TOKEN) as other:
        staging = ChangedResponses(other)
        before = story.folder.parts()
        for url, options in ((staging.base_url, {}), (other.base_url, {}), (other.base_url, {"same_service": True})):
            with da.Client(url, token=TOKEN) as client, pytest.raises(kinds.Mismatch):
                story.scan(client).to_folder(story.folder.url, settle=SETTLE, **options)
        staging.close()
        assert (other.requests, story.folder.parts() == before) == ([], True)


def a_refresh_by_less(story: Story) -> None:
    """S12. No rows, or one of nulls: the files are kept, and named until the days were requested without a doubt."""
    story.succeeds()
    days, before, last = story.refreshed_days(), story.folder.rows(), story.day()
    for change in (nothing, one_row_of_nulls):
        with story.platform.changed(change):
            assert doubtful_days(story.succeeds()) == days
            code, reported = story.strict()
            assert code == 65
            assert all(day in reported for day in days), reported
    assert story.folder.rows() == before

    def has_lost_the_days(request: str, response: Any) -> Any:
        return nothing(request, response) if day_of(request) <= last else response

    story.platform.change = has_lost_the_days


def the_night_after_without_refresh(story: Story) -> None:
    """S12. It requests what is new and what is in doubt, and names it until that is over."""
    days = {story.day(ago) for ago in range(1, REFRESHED + 1)}
    assert story.asked_by(lambda: story.succeeds(settle=timedelta(hours=1))) == days | {story.day()}
    assert doubtful_days(story.succeeds(settle=timedelta(hours=1))) == days
    story.platform.change = None
    assert story.asked_by(lambda: story.succeeds(settle=timedelta(hours=1))) == days
    assert story.asked_by(lambda: story.succeeds(settle=timedelta(hours=1))) == set()


def a_response_without_data(story: Story) -> None:
    """S12. It does not say whether there are rows."""
    story.succeeds()
    before = story.folder.parts()
    with story.platform.changed(without_data), pytest.raises(da.ScanIncompleteError) as caught:
        story.run()
    assert (caught.value.exit_code, story.folder.parts() == before) == (65, True)
    assert all(day in str(caught.value) for day in story.refreshed_days())


def a_column_is_renamed(story: Story) -> None:
    """S16. The service has a new version, from this night on."""
    story.succeeds()
    before = story.folder.rows()
    story.platform.change = renamed
    assert doubtful_days(story.succeeds()) == story.refreshed_days()
    assert story.folder.rows() == before


def a_column_is_still_renamed(story: Story) -> None:
    """S16. The days since then are new, and named each night with the likely new key."""
    report = story.succeeds()
    assert story.day() in doubtful_days(report)
    named = next(text for text in report.warnings if "'allocated_time'" in text)
    assert "'allocatedTime'" in named


def a_column_is_back(story: Story) -> None:
    """S16. All days in doubt are requested again."""
    story.platform.change = None
    assert doubtful_days(story.succeeds()) == set()
    assert story.differing() == set()


def doubt_before_the_rename(story: Story) -> None:
    """S17. What is refused, by a function, by `on_doubt="error"` or as a warning that is an error, replaces nothing."""
    story.succeeds()
    before = story.folder.rows()
    asked: list[da.FileReport] = []

    def refuses(task: da.FileReport) -> bool:
        asked.append(task)
        return not task.doubts

    with story.platform.changed(nothing):
        for options in ({"on_doubt": "error"}, {"on_doubt": refuses}):
            with pytest.raises(da.ScanIncompleteError) as caught:
                story.run(**options)
            assert (caught.value.exit_code, story.folder.rows() == before) == (65, True), options
        assert {str(task.day) for task in asked if task.doubts} == story.refreshed_days()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((da.ScanIncompleteError, da.ShrunkWarning)):
                story.run()
    assert story.folder.rows() == before


def damage(story: Story) -> None:
    """S5. The other days are brought, and the damaged one is named until it is requested again."""
    day = str(FIRST)
    name = f"day={day}/part-0.parquet"
    story.folder.write(name, story.folder.parts()[name][:-9])
    with pytest.raises(da.ScanIncompleteError) as caught:
        story.run()
    assert (caught.value.exit_code, day in str(caught.value)) == (65, True)
    assert [part.day for part in damaged(story.folder.status())] == [day]
    assert story.command("status", story.folder.url)[0] == 65
    story.run(refresh=day)


def an_outage(story: Story) -> None:
    """The job ends as one that may succeed later."""
    with story.service.fault("status", path="search", status=503), pytest.raises(da.ThrottledError) as caught:
        story.run()
    assert (caught.value.exit_code, caught.value.retryable) == (75, True)


def two_at_once(story: Story) -> None:
    """S4, O3. The second one ends at once."""
    locked: list[int] = []

    def second(_progress: da.Progress) -> None:
        if not locked:
            with pytest.raises(da.FolderLockedError) as caught:
                story.run()
            locked.append(caught.value.exit_code)

    # A run waits two seconds for the lock of its own process.
    with story.service.fault("delay", path="search", seconds=3, times=1):
        story.run(progress=second)
    assert locked == [75]


def a_kill(story: Story) -> None:
    """S1, O1. With one request in flight, after two new files."""
    before = story.differing()
    with (
        story.service.fault("stall", path="search", after=2),
        another_process(story, "all", 1) as process,
    ):
        wait_for(process, 3)
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert story.differing() <= before
    story.folder.unlock()


def a_frozen_run(story: Story) -> None:
    """O11, S4. It is resumed after its lock ran out and another run was there; on this machine no lock runs out."""
    story.succeeds()
    scale = SCALE if story.folder.has_lease else 1
    with another_process(story, "all", 2, scale) as frozen:
        with story.service.fault("delay", path="search", seconds=0.15):
            wait_for(frozen, 3)
            frozen.send_signal(signal.SIGSTOP)
        story.change()
        if story.folder.has_lease:
            take_over(story)
        else:
            with pytest.raises(da.FolderLockedError):
                story.run()
        before = story.folder.parts()
        frozen.send_signal(signal.SIGCONT)
        _, message = frozen.communicate(timeout=40)
    if story.folder.has_lease:
        assert (frozen.returncode, story.folder.parts() == before) == (75, True), message
        assert story.differing() == set()
    else:
        assert frozen.returncode == 0, message
