"""Which figures of a report are of the run, which of the folder; and the report as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dataaccess as da


def test_retries_of_an_earlier_run_are_not_reported_again(connect: Any, tmp_path: Path) -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        client = connect(sandbox)
        days = da.days("2024-01-01", "2024-01-04")
        with sandbox.fault("status", status=503, retry_after=0, times=2):
            first = client.scan_codes(["id"], allocated_time=days).to_folder(tmp_path)
        second = client.scan_codes(["id"], allocated_time=days).to_folder(tmp_path)
    assert (first.retries, first.new) == (2, 3)
    assert (second.retries, second.kept) == (0, 3)
    assert (first.requests, second.requests) == (5, 0)
    assert [(file.rows, file.bytes) for file in second.files] == [(file.rows, file.bytes) for file in first.files]
    assert sum(task.attempts for task in second.files) == 5


def test_a_report_is_a_dict_for_json(sandbox: da.Sandbox, tmp_path: Path) -> None:
    report = sandbox.client().scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder(tmp_path)
    loaded = json.loads(json.dumps(report.to_dict()))
    assert loaded == report.to_dict()
    (task,) = report.files
    assert loaded["files"][0]["path"] == str(task.path)
    assert (loaded["folder"], loaded["rows"], loaded["new"], loaded["kept"]) == (str(tmp_path), 73, 1, 0)
    assert set(loaded) == {
        *("folder", "service", "query", "files", "warnings", "maybe_capped"),
        *("missing_days", "open_days", "unsettled_days", "doubtful_days", "days"),
        *("rows", "new", "kept", "refreshed", "requests", "retries", "seconds"),
    }
