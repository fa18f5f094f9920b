"""Mistakes in the file of profiles: only those of the profile in use count, and all of them are reported together."""

from __future__ import annotations

import re
import traceback
from pathlib import Path

import pytest

import dataaccess as da


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    path = tmp_path / "dataaccess" / "config.toml"
    path.parent.mkdir()
    return path


BROKEN = """
[profiles.good]
base_url = "https://cdp.example.com"
timeout = 7

[profiles.broken]
timeuot = 3
timeout = "hunter2"
timezone = "Mars"
token = "tok-hunter2"
token_file = 5

[profiles]
three = 3
"""


def test_a_broken_profile_stops_no_other(file: Path) -> None:
    file.write_text(BROKEN)
    file.chmod(0o600)
    assert da.Client(profile="good", token="t").settings["timeout"].value == 7
    with pytest.raises(da.ConfigError, match=rf"^{re.escape(str(file))}: .* \[profiles\.three\]$"):
        da.Client(profile="three")


def test_all_problems_of_a_profile_are_one_error(file: Path) -> None:
    file.write_text(BROKEN)
    file.chmod(0o600)
    with pytest.raises(da.ConfigError) as caught:
        da.Client(profile="broken")
    named = ["base_url", "timezone", "timeout", "timeuot", "token_file", "token and token_file"]
    assert [line.startswith(name) for name, line in zip(named, caught.value.problems, strict=True)] == [True] * 6
    # An address that is missing has no source.
    assert all(line.endswith(f" (profile broken in {file})") for line in caught.value.problems[2:])
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "tok-hunter2" not in shown


def test_paths_start_at_the_folder_of_the_file(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sandbox: da.Sandbox
) -> None:
    file.write_text(f'[profiles.good]\nbase_url = "{sandbox.base_url}"\nrecord = "all.jsonl"\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with pytest.warns(da.DataAccessWarning):
        da.Client(profile="good", token=sandbox.issue_token()).search_codes(
            ["id"], allocated_time=da.on("2024-01-15"), limit=1
        )
    assert list(elsewhere.iterdir()) == []
    assert (file.parent / "all.jsonl").stat().st_size > 0
