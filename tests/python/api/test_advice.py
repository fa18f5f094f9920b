"""Warnings and errors advise only what the caller can do."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from support.raw_server import always, http, serving
from support.runs import some_days
from support.streams import response_of, scan_of, search_of

import dataaccess as da

EMPTY = da.days("1990-01-01", "1990-01-05")
NOTHING = "no rows on any of the 4 days"


def test_a_search_that_looks_capped_advises_no_argument_that_it_lacks(connect: Any) -> None:
    with serving(always(response_of([{"n": 1, "text": "a"}] * 2_000))) as server:
        client = connect(server.base_url)
        with pytest.warns(da.IncompleteWarning, match="use scan_items, which can split requests") as caught:
            search_of(client)
        assert "on_suspected_cap" not in str(caught[0].message)
        with pytest.warns(da.IncompleteWarning, match='with on_suspected_cap="split"'):
            scan_of(client).to_dicts()
    with (
        some_days((30, 45, 18, 18), maximum_rows=18) as service,
        pytest.warns(da.IncompleteWarning, match="use scan_codes, which can split requests") as caught,
    ):
        connect(service).search_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-05"))
    assert "on_suspected_cap" not in str(caught[0].message)


def test_days_that_are_all_empty_are_reported_once(client: Any, tmp_path: Path) -> None:
    scan = client.scan_codes(["id"], allocated_time=EMPTY)
    for use in (
        lambda: client.search_codes(["id"], allocated_time=EMPTY),
        scan.to_dicts,
        scan.collect,
        lambda: list(scan.batches()),
        lambda: scan.to_csv(tmp_path / "codes.csv"),
        lambda: scan.to_folder(tmp_path / "folder"),
    ):
        with pytest.warns(da.EmptyResultWarning, match=NOTHING) as caught:
            use()
        assert len(caught) == 1
    with pytest.warns(da.EmptyResultWarning, match=f"{NOTHING}: .*never allocated"):
        client.search_codes(["id"], allocated_time=EMPTY, code_status="available")


def test_one_empty_day_is_not_reported(client: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for time in (da.on("1990-01-01"), da.days("1990-01-01", "1990-01-02"), da.days("2023-12-30", "2024-01-02")):
            client.search_codes(["id"], allocated_time=time)


@pytest.fixture
def unwritable() -> Iterator[Path]:
    """A folder that this process may not write to: one of root, if it is root's."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o555)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if is_root:
                os.seteuid(0)


@pytest.mark.skipif(os.name != "posix", reason="needs modes of folders")
def test_a_folder_that_cannot_be_written_to_is_named(client: Any, unwritable: Path) -> None:
    with pytest.raises(da.FolderFileError) as caught:
        client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder(unwritable)
    text = str(caught.value)
    assert text.startswith(f"`{unwritable}` cannot be written to: Permission denied")
    assert text.endswith("name a folder that you may write to and try again")
    assert caught.value.path == str(unwritable)


@pytest.mark.parametrize(("status", "is_permanent"), [("500 Broken", False), ("404 Gone", True)])
def test_a_run_without_a_finished_task_resumes_nothing(
    connect: Any,
    tmp_path: Path,
    status: str,
    is_permanent: bool,  # noqa: FBT001 - a case
) -> None:
    with serving(always(http(b"", status))) as server:
        scan = connect(server.base_url, retries=0).scan_codes(["id"], allocated_time=EMPTY)
        with pytest.raises(da.ScanIncompleteError) as caught:
            scan.to_folder(tmp_path)
    text = str(caught.value)
    assert ("4 of 4 tasks failed permanently (1990-01-01, " in text) == is_permanent
    assert "again" not in text
    assert "kept" not in text
