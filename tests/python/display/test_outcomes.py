"""How segment exports and reports of runs look."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import re
from pathlib import Path

import pytest

import dataaccess as da
from dataaccess.types import SegmentStatus

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def status() -> SegmentStatus:
    with da.Sandbox() as sandbox:
        return sandbox.client().download_segment(sandbox.start_export(rows=1_234, entries=2, seconds=0))


def test_a_status_is_a_dict_wherever_it_goes(status: SegmentStatus) -> None:
    plain = {name: status[name] for name in status}
    assert status == plain
    assert plain == status
    assert isinstance(status, dict)
    assert repr(status) == repr(plain)
    assert json.loads(json.dumps(status)) == plain
    for copied in (pickle.loads(pickle.dumps(status)), copy.deepcopy(status), copy.copy(status), dict(status)):
        assert type(copied) is dict
        assert copied == plain


def test_a_status_shows_a_row_for_each_entry(status: SegmentStatus) -> None:
    first, second = status["entries"]
    begin = {"startTime": "2024-01-15T08:00:00.000Z"}
    second.update({**begin, "endTime": None, "responseCode": None, "responseMessage": EVIL})  # type: ignore[typeddict-item] # plain
    first.update({**begin, "endTime": "2024-01-15T08:05:02.500Z"})  # type: ignore[typeddict-item] # likewise
    lines = str(status).splitlines()
    assert lines[0] == "2 entries: 1 running, 1 finished"
    assert lines[1].split() == ["entry", "state", "rows", "message", "started", "took"]
    assert lines[3].split() == ["1", "finished", "1,234", "200", "OK", "2024-01-15", "08:00:00Z", "5", "min", "2", "s"]
    assert lines[4].split() == ["2", "running", "1,234", *EVIL.split(), "2024-01-15", "08:00:00Z", "–"]  # noqa: RUF001 - a dash
    html = status._repr_html_()
    assert '<span class="good">finished</span>' in html
    assert '<span class="busy">running</span>' in html
    assert "<script>" not in html


def test_entries_of_any_shape_are_shown(status: SegmentStatus) -> None:
    changes = {"startTime": "soon", "endTime": "later", "responseCode": 500, "exportedRows": None}
    status["entries"][0].update(changes)  # type: ignore[typeddict-item] # what a service may send
    assert str(status).splitlines()[3].split() == ["1", "failed", "–", "500", "OK", "soon", "–"]  # noqa: RUF001 - a dash
    status["entries"] = []
    assert str(status) == "no entries yet"
    assert "no entries yet" in status._repr_html_()


def test_a_report_shows_states_retries_and_doubts(tmp_path: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client = sandbox.client()
        january = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04"))
        january.to_folder(tmp_path)
        with sandbox.fault("status", status=503, times=1):
            longer = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-06"))
            report = longer.to_folder(tmp_path)
    assert "<th>open</th>" not in report._repr_html_()
    open_report = dataclasses.replace(report, open_days=["2024-01-05"])
    assert re.search(r">1 day [^<]*: 2024-01-05;", open_report._repr_html_())
    lines = str(report).splitlines()
    requested = f"{report.files[0].requested_at:%Y-%m-%d}"
    assert lines[0] == f"{report.rows} rows in 5 files: 2 new, 3 kept (requested {requested})"
    assert lines[1] == f"folder:    {tmp_path}"
    assert [line.split(":")[0] for line in lines[2:]] == ["service", "days", "size", "sent"]
    assert re.fullmatch(r"sent:      3 requests in [\d.]+ s, 1 retry", lines[5])
    html = report._repr_html_()
    assert '<span class="good">2 new</span><br><span class="dim">3 kept (requested ' in html
    assert html.count("<tr>") == 7 + 1 + 5
    assert ">nothing</td>" in html


def test_what_is_doubtful_is_marked(tmp_path: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"day_zone": "Asia/Ho_Chi_Minh"}) as sandbox:
        scan = sandbox.client().scan_codes(["id", "allocated_time"], allocated_time=da.days("2024-01-01", "2024-01-03"))
        with pytest.warns(da.StrayDayWarning):
            report = scan.to_folder(tmp_path)
    data = "1 of 2 days: allocated_time 2024-01-01 17:42:57 "
    assert re.search(rf"^doubtful: .* {data}", str(report), re.MULTILINE)
    assert re.search(rf'<span class="doubt wide">[^<]* {data}', report._repr_html_())
