"""`demo`: its commands run, and leave nothing behind."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest


def test_the_demo_shows_commands_with_their_output(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    # The demo is the same for every user.
    monkeypatch.setenv("DATAACCESS_PROFILE", "nope")
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", "/nowhere.pem")
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-mine")
    ended = run("demo", terminal=True)
    lines = ended.output.splitlines()
    assert ended.code == 0
    assert [line.split()[2] for line in lines if line.startswith("$ ")] == [
        "codes", "codes", "items", "validate", "scan", "segment", "doctor"
    ]  # fmt: skip
    assert re.search(r"codes: 2,\d{3} rows in 30 files: 30 new", ended.reported)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    assert any(re.fullmatch(rf"demo-code-\d+            3  {yesterday} 00:00:00", line) for line in lines)
    assert lines[-1].startswith("To go on: ")
    assert list(tmp_path.iterdir()) == []
    assert "DATAACCESS_BASE_URL" not in os.environ
