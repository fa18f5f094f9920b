"""Doubts that outlast a run: a kept file stays doubtful until a run requested its task again without a doubt."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from support.changed_responses import ChangedResponses, day_of, nothing, renamed
from support.raw_server import always, serving
from support.runs import by_value, doubtful, numbers_in, responding, rows_in, values_asked
from support.story import doubtful_days
from support.streams import response_of

import dataaccess as da

TOKEN = "token-of-doubtful-days"
DAYS = [f"2024-01-0{day}" for day in range(1, 7)]
# The rows of the newer response, and of the file that was kept.
KEPT = ["0", "6"]


@pytest.fixture
def platform() -> Iterator[ChangedResponses]:
    """Six days of six codes."""
    with da.Sandbox(token=TOKEN, now="2024-02-01T00:00") as service:
        codes = [{"id": f"{day}-{n}", "allocated_time": f"{day} 09:00:00"} for day in DAYS for n in range(6)]
        service.load("promotion_code", codes)
        platform = ChangedResponses(service)
        yield platform
        platform.close()


@pytest.fixture
def client(connect: Any, platform: ChangedResponses) -> Any:
    """A client of the platform."""
    return connect(platform.base_url, token=TOKEN)


def days(client: Any, count: int) -> Any:
    """A scan of the first days."""
    stop = f"2024-01-0{count + 1}"
    return client.scan_codes(["id", "allocated_time"], allocated_time=da.days("2024-01-01", stop))


def asked(platform: ChangedResponses) -> list[str]:
    """The days that were requested, in order."""
    return sorted(map(day_of, platform.asked))


@pytest.fixture
def kept(client: Any, platform: ChangedResponses, tmp_path: Path) -> Any:
    """A scan of four days, whose second day was kept; its responses have no rows."""
    scan = days(client, 4)
    scan.to_folder(tmp_path)
    platform.change = nothing
    with pytest.warns(da.ShrunkWarning, match="2024-01-02"):
        scan.to_folder(tmp_path, refresh="2024-01-02")
    platform.forget()
    return scan


def status(folder: Path) -> list[tuple[str | None, list[list[str]]]]:
    """The doubtful days, as the folder has them, with the numbers of each doubt."""
    return [(part.day, [numbers_in(doubt) for doubt in part.doubts]) for part in doubtful(da.folder_status(folder))]


@pytest.mark.both_clients
def test_a_doubtful_day_stays_named_until_it_was_requested_without_a_doubt(
    kept: Any, platform: ChangedResponses, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for number in (1, 2):
        assert status(tmp_path) == [("2024-01-02", [KEPT])]
        caplog.clear()
        with pytest.warns(da.ShrunkWarning, match="2024-01-02"):
            report = kept.to_folder(tmp_path)
        assert [[numbers_in(doubt) for doubt in task.doubts] for task in report.files] == [[], [KEPT], [], []]
        assert [record for record in caplog.records if record.levelno >= logging.WARNING and "01-02" in record.message]
        assert asked(platform) == ["2024-01-02"] * number
    platform.change = None
    # Warnings are errors here.
    report = kept.to_folder(tmp_path)
    assert (asked(platform), doubtful_days(report), status(tmp_path)) == (["2024-01-02"] * 3, set(), [])
    assert (kept.to_folder(tmp_path).kept, len(platform.asked)) == (4, 3)


def test_a_doubt_outlasts_runs_of_other_days_and_runs_that_fail(
    kept: Any, client: Any, platform: ChangedResponses, tmp_path: Path
) -> None:
    platform.change = None
    one_day = client.scan_codes(["id", "allocated_time"], allocated_time=da.days("2024-01-03", "2024-01-04"))
    one_day.to_folder(tmp_path, refresh="all")
    assert status(tmp_path) == [("2024-01-02", [KEPT])]
    platform.change = lambda _request, _response: {"code": 400, "message": "no", "data": None}
    with pytest.raises(da.ScanIncompleteError, match="2024-01-02"):
        kept.to_folder(tmp_path)
    assert status(tmp_path) == [("2024-01-02", [KEPT])]
    platform.change = None
    kept.to_folder(tmp_path)
    assert status(tmp_path) == []


def test_what_was_refused_is_requested_each_night_until_it_is_accepted(
    client: Any, platform: ChangedResponses, tmp_path: Path
) -> None:
    """By an error or a function, of a day that is final."""

    def is_named(error: da.ScanIncompleteError) -> bool:
        return error.report is not None and error.report.doubtful_days == ["2024-01-03"]

    scan = days(client, 4)
    scan.to_folder(tmp_path)
    platform.change = nothing
    for refuses in ("error", lambda task: task.rows > 0):
        platform.forget()
        with pytest.raises(da.ScanIncompleteError, check=is_named):
            scan.to_folder(tmp_path, refresh="2024-01-03", on_doubt=refuses)
        assert [day for day, _ in status(tmp_path)] == ["2024-01-03"]
        with pytest.raises(da.ScanIncompleteError, check=is_named):
            scan.to_folder(tmp_path, on_doubt=refuses)
        assert asked(platform) == ["2024-01-03"] * 2
        with pytest.warns(da.ShrunkWarning, match="2024-01-03"):
            assert len(scan.read_folder(tmp_path)) == 24
    report = scan.to_folder(tmp_path, accept=["2024-01-03", "2024-01-04"], on_doubt="error")
    assert (report.rows, report.doubtful_days, status(tmp_path)) == (18, [], [])
    # What is not in doubt is not requested because it would be accepted.
    assert asked(platform) == ["2024-01-03"] * 3
    assert scan.to_folder(tmp_path, on_doubt="error", refresh="2024-01-03").doubtful_days == []


def loaded(service: da.Sandbox, counts: list[int]) -> list[str]:
    """Loads so many codes for each day from the first of January on."""
    names = [f"2024-01-{day:02}" for day in range(1, len(counts) + 1)]
    rows = [(day, number) for day, count in zip(names, counts, strict=True) for number in range(count)]
    codes = [{"id": f"{day}-{number}", "allocated_time": f"{day} 09:00:00"} for day, number in rows]
    service.load("promotion_code", codes)
    return names


def test_a_day_with_hardly_any_rows_beside_its_neighbors_is_in_doubt(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(now="2024-02-01T00:00") as service:
        names = loaded(service, [*range(40, 50), 9, *range(50, 53)])
        scan = connect(service).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-15"))
        with pytest.warns(da.IncompleteWarning, match=names[10]):
            report = scan.to_folder(tmp_path)
        assert (report.doubtful_days, da.folder_status(tmp_path).doubtful_days) == ([names[10]], [names[10]])
        # Of the days that a run loads into a folder that has the others.
        with pytest.raises(
            da.ScanIncompleteError, check=lambda error: [name[:10] for name in error.failed] == [names[10]]
        ):
            scan.to_folder(tmp_path, refresh="all", on_doubt="error")
        # Warnings are errors here.
        assert scan.to_folder(tmp_path, accept=names[10]).doubtful_days == []
        assert scan.to_folder(tmp_path, refresh="all", on_doubt="error").doubtful_days == []
        assert da.folder_status(tmp_path).doubtful_days == []


def test_a_day_that_is_free_each_week_is_no_doubt(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(now="2024-02-01T00:00") as service:
        loaded(service, [41, 42, 43, 44, 45, 46, 0, 47, 48, 49, 50, 51, 52, 0, 53, 54])
        scan = connect(service).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-17"))
        assert scan.to_folder(tmp_path, on_doubt="error").doubtful_days == []


@pytest.mark.parametrize("ids", [["a", None, "b"], ["a", "b", "a"]])
def test_codes_without_an_id_of_their_own_are_a_doubt(connect: Any, tmp_path: Path, ids: list[str | None]) -> None:
    response = response_of([{"id": one, "allocated_time": "2024-01-01 09:00:00"} for one in ids])
    with serving(always(response)) as server:
        scan = connect(server.base_url).scan_codes(["id", "allocated_time"], allocated_time=da.on("2024-01-01"))
        with pytest.warns(da.DataAccessWarning) as caught:
            report = scan.to_folder(tmp_path)
        assert [each.category for each in caught] == [da.DataAccessWarning]
        assert report.doubtful_days == da.folder_status(tmp_path).doubtful_days == ["2024-01-01"]
        with pytest.raises(da.ScanIncompleteError):
            scan.to_folder(tmp_path, refresh="all", on_doubt="error")
        assert scan.to_folder(tmp_path, accept="2024-01-01", on_doubt="error").doubtful_days == []


def test_a_column_without_values_that_the_other_files_have_is_a_doubt(connect: Any, tmp_path: Path) -> None:
    def give(connection: Any, value: str, _before: int) -> None:
        text = None if value == "4" else "x"
        connection.sendall(response_of([{"n": int(value), "text": text}] * (10 + int(value))))

    with responding(give) as server:
        scan = by_value(connect(server.base_url), ["1", "2", "3", "4"])
        with pytest.warns(da.AbsentAttributeWarning):
            report = scan.to_folder(tmp_path)
        assert [len(task.doubts) for task in report.files] == [0, 0, 0, 1]


@pytest.mark.usefixtures("kept")
def test_a_folder_in_doubt_is_read_as_the_pages_say(tmp_path: Path) -> None:
    # polars refuses a folder with other files that are not empty, hidden ones too.
    assert len(pl.read_parquet(tmp_path)) == len(pd.read_parquet(tmp_path)) == 24


@pytest.mark.fault("S16")
@pytest.mark.both_clients
def test_a_renamed_attribute_is_named_each_night(client: Any, platform: ChangedResponses, tmp_path: Path) -> None:
    days(client, 3).to_folder(tmp_path)
    platform.change = renamed
    for count in (4, 5, 6):
        with pytest.warns(da.AbsentAttributeWarning, match="'allocated_time'.*'allocatedTime'"):
            report = days(client, count).to_folder(tmp_path)
        assert doubtful_days(report) == set(DAYS[3:count])
        assert [day for day, _ in status(tmp_path)] == DAYS[3:count]


def test_a_snapshot_is_made_anew_although_a_task_is_kept(connect: Any, tmp_path: Path) -> None:
    shrunk: set[str] = set()

    def give(connection: Any, value: str, before: int) -> None:
        rows = [] if value in shrunk else [{"n": 10 * int(value) + before + 1, "text": "x"}]
        connection.sendall(response_of(rows))

    def night() -> tuple[list[str], list[bool], list[int]]:
        """What one run requests, which tasks are in doubt, and the rows."""
        before = len(values_asked(server))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", da.ShrunkWarning)
            report = scan.to_folder(tmp_path)
        asked = sorted(values_asked(server)[before:])
        return (
            asked,
            [bool(task.doubts) for task in report.files],
            sorted(pl.read_parquet(tmp_path / "*.parquet")["n"].to_list()),
        )

    with responding(give) as server:
        scan = by_value(connect(server.base_url), ["1", "2", "3"])
        every = ["1", "2", "3"]
        assert night() == (every, [False, False, False], [11, 21, 31])
        shrunk.add("2")
        assert night() == (every, [False, True, False], [12, 21, 32])
        assert night() == (every, [False, True, False], [13, 21, 33])
        shrunk.clear()
        assert night() == (every, [False, False, False], [14, 24, 34])
        assert night() == (every, [False, False, False], [15, 25, 35])


@pytest.mark.both_clients
def test_a_function_is_asked_about_responses_that_shrank(
    client: Any, platform: ChangedResponses, tmp_path: Path
) -> None:
    scan = days(client, 2)
    scan.to_folder(tmp_path)
    before = rows_in(tmp_path)
    platform.change = nothing
    seen: list[tuple[str | None, str]] = []

    def refuses(task: da.FileReport) -> bool:
        seen.append((task.day, " ".join(task.doubts)))
        return not task.doubts

    with pytest.raises(da.ScanIncompleteError, check=lambda error: len(error.failed) == 2):
        scan.to_folder(tmp_path, refresh="all", on_doubt=refuses)
    assert sorted(day for day, _ in seen if day) == DAYS[:2]
    assert all(numbers_in(doubts) == KEPT for _, doubts in seen)
    assert rows_in(tmp_path) == before


def test_the_log_names_every_doubtful_day(
    client: Any, platform: ChangedResponses, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    scan = days(client, 5)
    scan.to_folder(tmp_path)
    platform.change = nothing
    with pytest.warns(da.ShrunkWarning):
        scan.to_folder(tmp_path, refresh="all")
    logged = [f"{record.message} {vars(record)}" for record in caplog.records if record.levelno >= logging.WARNING]
    assert [day for day in DAYS[:5] if not any(day in text for text in logged)] == []
