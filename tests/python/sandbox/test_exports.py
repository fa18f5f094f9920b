"""Exports that a test starts, in their stages, as both clients see them (sections 2.5, 3.2 and 4.3)."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import dataaccess as da


def test_an_export_runs_through_its_stages(connect: Any, own: da.Sandbox) -> None:
    client = connect(own)
    export = own.start_export(rows=42, seconds=7200, entries=2, delay=600)
    seen: list[list[bool]] = []

    def advance(update: Any) -> None:
        stage = [entry["endTime"] is not None for entry in update["entries"]]
        # A poll that was sent before the clock moved shows the same stage again.
        if stage not in seen:
            own.advance(600 if not seen else timedelta(hours=1))
            seen.append(stage)

    response = client.wait_for_segment(export, timeout=60, poll=0.01, on_update=advance)
    assert seen == [[], [False, False], [True, False], [True, True]]
    for entry in response["entries"]:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", entry["endTime"])
        assert (entry["exportedRows"], entry["responseCode"], entry["responseMessage"]) == (42, 200, "OK")
    assert [entry["durations"] for entry in response["entries"]] == [3_600_000, 7_200_000]
    assert response["meta"] == {"total": 2}
    assert re.fullmatch(r"\d+ms", response["duration"])


def test_an_unfinished_entry_has_the_nulls_of_the_specification(connect: Any, own: da.Sandbox) -> None:
    (entry,) = connect(own).download_segment(own.start_export(seconds=timedelta(days=1)))["entries"]
    assert entry.pop("startTime")
    assert entry == dict.fromkeys(["exportedRows", "endTime", "durations", "responseCode", "responseMessage"], None) | {
        "exportStatus": 1
    }


def test_an_export_may_fail(connect: Any, own: da.Sandbox) -> None:
    (entry,) = connect(own).download_segment(own.start_export(rows=3, seconds=0, succeeds=False))["entries"]
    assert (entry["exportStatus"], entry["exportedRows"], entry["responseCode"]) == (3, 3, 500)


def test_an_export_takes_the_id_it_is_given_or_a_free_one(own: da.Sandbox) -> None:
    client = own.client()
    assert own.start_export(export_id=7, rows=1, seconds=0) == 7
    assert own.start_export(export_id=7, rows=2, seconds=0) == 7
    free = {own.start_export() for _ in range(3)}
    assert len(free) == 3
    assert 7 not in free
    assert client.download_segment(7)["entries"][0]["exportedRows"] == 2
