"""`folder_status`: which days a folder has, how old, and what looks wrong."""

from __future__ import annotations

import errno
import json
import re
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.arguments import about
from support.runs import damaged, doubtful

import dataaccess as da

NOON = datetime(2024, 3, 5, 12, tzinfo=UTC)


def row(day: int, name: str) -> dict[str, Any]:
    """A code of March."""
    return {"id": name, "allocated_time": f"2024-03-{day:02} 09:00:00"}


def fill(client: Any, folder: Path, start: int, stop: int, **options: Any) -> Any:
    """Runs some days of March."""
    days = da.days(f"2024-03-{start:02}", f"2024-03-{stop:02}")
    return client.scan_codes(["id", "allocated_time"], allocated_time=days, **options).to_folder(folder)


def test_days_are_present_missing_open_and_of_an_age(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(now=NOON) as service:
        service.load("promotion_code", [row(day, f"{day}-{n}") for day in range(1, 7) for n in range(day)])
        client = connect(service)
        fill(client, tmp_path, 1, 3)
        service.advance(timedelta(minutes=5))
        fill(client, tmp_path, 4, 6)
    status = da.folder_status(tmp_path)
    assert (status.folder, status.service, status.rows) == (tmp_path, client.base_url, 1 + 2 + 4 + 5)
    assert status.days == ["2024-03-01", "2024-03-02", "2024-03-04", "2024-03-05"]
    assert (status.missing_days, status.open_days) == (["2024-03-03"], ["2024-03-05"])
    slow = da.folder_status(tmp_path, settle=2)
    assert (slow.open_days, slow.unsettled_days) == (["2024-03-05"], ["2024-03-04"])
    times = [file.requested_at for file in status.files if file.requested_at is not None]
    assert NOON <= times[0] < NOON + timedelta(minutes=1)
    assert timedelta(minutes=4) < times[-1] - times[0] < timedelta(minutes=6)
    assert (doubtful(status), damaged(status)) == ([], [])
    assert status.query["timezone"] == "UTC"
    assert json.loads(json.dumps(status.to_dict()))["missing_days"] == ["2024-03-03"]
    shown = str(status)
    assert "missing:   1 day: 2024-03-03" in shown
    assert "open:      1 day was not over: 2024-03-05" in shown


def test_a_day_whose_file_is_gone_is_missing(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(now=NOON) as service:
        service.load("promotion_code", [row(day, f"{day}") for day in range(1, 5)])
        fill(connect(service), tmp_path, 1, 5)
    # What removes files may leave their folders.
    for day in ("2024-03-02", "2024-03-04"):
        (tmp_path / f"day={day}" / "part-0.parquet").unlink()
    status = da.folder_status(tmp_path)
    assert (status.days, status.missing_days) == (["2024-03-01", "2024-03-03"], ["2024-03-02"])


def test_days_after_the_last_file_are_missing_if_they_should_be_there(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(now=NOON) as service:
        service.load("promotion_code", [row(day, f"{day}") for day in range(1, 5)])
        fill(connect(service), tmp_path / "days", 1, 3)
        connect(service).scan_codes(["id"], allocated_time=da.since("2024-03-01")).to_folder(tmp_path / "flat")
    assert da.folder_status(tmp_path / "days").missing_days == []
    for until in ("2024-03-04", date(2024, 3, 4)):
        assert da.folder_status(tmp_path / "days", until=until).missing_days == ["2024-03-03", "2024-03-04"]
    assert da.folder_status(tmp_path / "days", until="2024-03-01").missing_days == []
    days = [(datetime.now(UTC) - timedelta(days=ago)).date().isoformat() for ago in (1, 0)]
    # Midnight can pass meanwhile.
    assert da.folder_status(tmp_path / "days", until="yesterday").missing_days[-1] in days
    refused: list[tuple[str, Any, str]] = [
        ("days", "soon", "`soon`"),
        ("days", "20240304", "`20240304`"),
        ("days", 3, '"yesterday"'),
        ("flat", "2024-03-04", "days"),
    ]
    for folder, wrong, named in refused:
        with pytest.raises(da.ValidationError, match=named, check=about("until")):
            da.folder_status(tmp_path / folder, until=wrong)


def test_days_end_in_the_zone_of_the_folder(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(now=datetime(2024, 3, 5, 18, tzinfo=UTC)) as service:
        service.load("promotion_code", [row(4, "a"), row(5, "b")])
        for zone, opened in (("UTC", ["2024-03-05"]), ("Asia/Ho_Chi_Minh", [])):
            days = da.days("2024-03-04", "2024-03-06")
            scan = connect(service, timezone=zone).scan_codes(["id"], allocated_time=days)
            scan.to_folder(tmp_path / zone.replace("/", "-"))
            assert da.folder_status(tmp_path / zone.replace("/", "-"), settle=0).open_days == opened


def test_the_file_of_another_day_is_damage(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(now=NOON) as service:
        service.load("promotion_code", [row(day, f"{day}") for day in (1, 2)])
        fill(connect(service), tmp_path, 1, 3)
    one, other = (tmp_path / f"day=2024-03-0{day}" / "part-0.parquet" for day in (1, 2))
    other.write_bytes(one.read_bytes())
    status = da.folder_status(tmp_path)
    assert ([file.day for file in damaged(status)], status.doubtful_days) == (["2024-03-02"], ["2024-03-02"])


@pytest.mark.filterwarnings("ignore::dataaccess.DataAccessWarning")
def test_what_looks_wrong_is_named_and_damage_hides_nothing_else(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox(switches={"day_zone": "Asia/Tokyo"}) as service:
        service.load(
            "promotion_code", [row(1, "a"), row(2, "b"), {"id": "late", "allocated_time": "2024-03-01 16:00:00"}]
        )
        fill(connect(service), tmp_path, 1, 4)
    (tmp_path / "day=2024-03-03" / "part-0.parquet").write_bytes(b"PAR1")
    status = da.folder_status(tmp_path)
    assert [(part.day, len(part.doubts)) for part in doubtful(status)] == [("2024-03-02", 1)]
    assert [part.day for part in damaged(status)] == ["2024-03-03"]
    assert (status.rows, damaged(status)[0].rows, damaged(status)[0].requested_at) == (3, 0, None)
    assert re.search("^doubtful: .*2024-03-02.*\ndamaged: .*2024-03-03", str(status), re.MULTILINE)


def test_capped_days_are_doubtful(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox() as service:
        service.load(
            "promotion_code", [row(day, f"{day}-{n}") for day in (1, 2) for n in range(1_000 - 1_000 * (day > 1))]
        )
        with pytest.warns(da.IncompleteWarning):
            fill(connect(service), tmp_path, 1, 3)
    (part,) = doubtful(da.folder_status(tmp_path))
    assert (part.day, " 1000 " in part.doubts[0]) == ("2024-03-01", True)


def test_days_with_the_rows_of_a_known_cap_are_doubtful(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox() as service:
        service.load("promotion_code", [row(day, f"{day}-{n}") for day in (1, 2) for n in range(day)])
        fill(connect(service), tmp_path, 1, 3)
    assert doubtful(da.folder_status(tmp_path)) == []
    (part,) = doubtful(da.folder_status(tmp_path, known_row_cap=2))
    assert (part.day, bool(re.search(" 2 .*known_row_cap", part.doubts[0]))) == ("2024-03-02", True)
    with pytest.raises(da.ValidationError, check=about("known_row_cap")):
        da.folder_status(tmp_path, known_row_cap=0)


def test_a_snapshot_has_files_without_days(connect: Any, sandbox: da.Sandbox, tmp_path: Path) -> None:
    connect(sandbox).scan_codes(["id"], allocated_time=da.since("2024-01-15")).to_folder(tmp_path)
    status = da.folder_status(str(tmp_path))
    assert (status.days, status.missing_days, status.open_days, len(status.files)) == ([], [], [], 1)
    assert status.rows > 0


def test_what_is_no_folder_of_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        da.FileError, check=lambda error: (error.errno, error.path) == (errno.ENOENT, str(tmp_path / "nowhere"))
    ):
        da.folder_status(tmp_path / "nowhere")
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(da.FolderError, match=r"`notes\.txt`"):
        da.folder_status(tmp_path)
    with pytest.raises(da.ConfigError, check=about("settle")):
        da.folder_status(tmp_path, settle=-1)
