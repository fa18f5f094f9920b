"""`demo`: its commands run, and leave nothing behind."""

from __future__ import annotations

import os
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
    assert "codes: 2,170 rows in 31 tasks: 31 new" in ended.reported
    assert "demo-code-00015            3  2024-01-15 00:00:00" in lines
    assert lines[-1].startswith("To go on: ")
    assert list(tmp_path.iterdir()) == []
    assert "DATAACCESS_BASE_URL" not in os.environ
