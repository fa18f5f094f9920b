"""What is wrong with its file or folder is found before anything is sent, in each format alike."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

DAY = ("codes", "--on", "2024-01-15")
KNOWN = r"\.parquet, \.pq; \.csv, \.tsv,.* \.gz, \.zst; \.json, \.jsonl, \.ndjson,.* \.gz, \.zst\b"


@pytest.mark.parametrize(
    ("words", "code", "data"),
    [
        ("-o codes", 2, "--output 'codes' .*--folder codes"),
        ("-o a.x", 2, rf"--output 'a\.x' .*{KNOWN}.*--format"),
        ("-o a.parquet.zst", 2, r"--output 'a\.parquet\.zst' .* \.zst, .*--format parquet "),
        ("-o run/day=2024-01-15/a.csv", 2, "--output 'run/day=2024-01-15/a\\.csv' .*/run"),
        ("-o /dev/null --format csv", 74, "`/dev/null` "),
        ("--folder file.csv", 74, r"--folder: 'file\.csv' .*--output"),
        ("--explain --requested-at", 2, "--requested-at: .*--folder"),
    ],
)
def test_a_target_that_does_not_fit_sends_nothing(
    run: Any, demo: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, code: int, data: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes").mkdir()
    (tmp_path / "file.csv").touch()
    (tmp_path / "run" / ".dataaccess").mkdir(parents=True)
    before = len(demo.requests)
    ended = run(*DAY, *words.split())
    assert (ended.code, ended.output, ended.reported.count("\n")) == (code, "", 1)
    assert re.match(f"dataaccess: {data}", ended.reported), ended.reported
    assert sorted(path.name for path in tmp_path.iterdir()) == ["codes", "file.csv", "run"]
    assert len(demo.requests) == before


@pytest.mark.usefixtures("demo")
@pytest.mark.skipif(sys.platform != "linux", reason="Linux names open files in /proc")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_link_to_an_open_file_stays(run: Any, tmp_path: Path, kind: str) -> None:
    with (tmp_path / "log").open("w") as log:
        link = tmp_path / "stdout"
        link.symlink_to(f"/proc/self/fd/{log.fileno()}")
        ended = run(*DAY, "-o", str(link), "--format", kind)
        assert link.is_symlink()
    assert (ended.code, str(link) in ended.reported) == (74, True)
