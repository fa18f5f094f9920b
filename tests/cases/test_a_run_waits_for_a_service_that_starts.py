"""A refused connection is retried for `retry_for` in scans, folders, files and waits; only a single call ends early.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.programs import free_port
from support.searches import search

import dataaccess as da

DAYS = da.days("2024-01-15", "2024-01-18")
# The default of 60 s is 1.5 s, and the 4 s of a first contact are 0.1 s.
TIMES = 40
USES: dict[str, Callable[[da.Client, Path], Any]] = {
    "search": lambda client, _: search(client),
    "scan": lambda client, _: client.scan_codes(["id"], allocated_time=DAYS).to_dicts(),
    "one day": lambda client, _: client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_dicts(),
    "folder": lambda client, path: client.scan_codes(["id"], allocated_time=DAYS).to_folder(path),
    "file": lambda client, path: client.scan_codes(["id"], allocated_time=DAYS).to_csv(path / "codes.csv"),
    "wait": lambda client, _: client.wait_for_segment(7, timeout=30),
}


@pytest.mark.parametrize("use", USES)
def test_only_a_search_ends_early(tmp_path: Path, time_scale: Callable[[int], None], use: str) -> None:
    time_scale(TIMES)
    with pytest.raises(da.ConnectError) as caught:
        USES[use](da.Client(f"http://127.0.0.1:{free_port()}", token="t"), tmp_path)
    assert (caught.value.elapsed < 1) == (use == "search")
    assert caught.value.elapsed < 6
