"""What a task of Airflow may return: of a report the figures, neither rows nor scans."""

from __future__ import annotations

from pathlib import Path

import dataaccess as da


def test_a_report_becomes_its_figures(sandbox: da.Sandbox, tmp_path: Path) -> None:
    report = sandbox.client().scan_codes(["id"], allocated_time=da.on("2024-01-15")).to_folder(tmp_path)
    figures = report.serialize()
    assert report.to_dict() == {**figures, "files": report.to_dict()["files"]}
    assert "files" not in figures
    assert da.FolderReport.deserialize(figures, 1) == figures
