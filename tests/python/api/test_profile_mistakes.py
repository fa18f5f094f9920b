"""Profiles that cannot be used, and files that others can read."""

from __future__ import annotations

import re
import sys
import traceback
import warnings
from pathlib import Path

import pytest
from support.profiles import PROFILES, Config

import dataaccess as da


@pytest.mark.parametrize(("content", "end"), [(b"[profiles", r" \(at .*\)"), (b"token = 'tok-hunter2'\xff", "")])
def test_a_file_that_cannot_be_read_is_reported(config: Config, content: bytes, end: str) -> None:
    config.path.write_bytes(content)
    del content
    with pytest.raises(da.ConfigError, match=rf"^{re.escape(str(config.path))} .*\bTOML \w+ UTF-8{end}$") as caught:
        da.Client(profile="one")
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "hunter2" not in shown
    assert caught.value.__cause__ is None


SECRET = '[profiles.one]\ntoken = "tok-hunter2"\n'
STRANGE = {"nested too deeply": SECRET + "a = " + "[" * 5_000, "too many digits": SECRET + "a = " + "9" * 5_000}


@pytest.mark.parametrize("problem", STRANGE)
def test_a_strange_file_is_an_error_whose_frames_have_nothing_of_it(problem: str, config: Config) -> None:
    config.write(STRANGE[problem])
    with pytest.raises(da.ConfigError, match=rf"^{re.escape(str(config.path))} .*\bTOML\b") as caught:
        da.Client(profile="one")
    error: BaseException | None = caught.value
    frames: list[object] = []
    while error is not None:
        frames += [frame.f_locals for frame, _ in traceback.walk_tb(error.__traceback__)][1:]
        error = error.__context__
    assert len(frames) > 3
    assert "hunter2" not in repr(frames)
    assert "999" not in repr(frames)


@pytest.mark.skipif(sys.platform == "win32", reason="the mode does not say there who may read a file")
def test_a_file_with_a_token_that_others_can_read_causes_a_warning(config: Config) -> None:
    config.write(PROFILES, mode=0o640)
    with pytest.warns(da.DataAccessWarning, match=rf" {re.escape(str(config.path))}, .*\bchmod 600\b") as caught:
        da.Client(profile="staging")
    assert caught[0].filename == __file__
    config.write('[profiles.one]\nbase_url = "https://cdp.example.com"\n', mode=0o644)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        da.Client(profile="one", token="t")


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


def test_a_broken_profile_stops_no_other(config: Config) -> None:
    config.write(BROKEN)
    assert da.Client(profile="good", token="t").settings["timeout"].value == 7
    with pytest.raises(da.ConfigError, match=rf"^{re.escape(str(config.path))}: .* \[profiles\.three\]$"):
        da.Client(profile="three")


def test_all_problems_of_a_profile_are_one_error(config: Config) -> None:
    config.write(BROKEN)
    with pytest.raises(da.ConfigError) as caught:
        da.Client(profile="broken")
    named = ["base_url", "timezone", "timeout", "timeuot", "token_file", "token and token_file"]
    assert [line.startswith(name) for name, line in zip(named, caught.value.problems, strict=True)] == [True] * 6
    # An address that is missing has no source.
    assert all(line.endswith(f" (profile broken in {config.path})") for line in caught.value.problems[2:])
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert "tok-hunter2" not in shown


def test_paths_start_at_the_folder_of_the_file(
    config: Config, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sandbox: da.Sandbox
) -> None:
    config.write(f'[profiles.good]\nbase_url = "{sandbox.base_url}"\nrecord = "all.jsonl"\n')
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with pytest.warns(da.DataAccessWarning):
        da.Client(profile="good", token=sandbox.issue_token()).search_codes(
            ["id"], allocated_time=da.on("2024-01-15"), limit=1
        )
    assert list(elsewhere.iterdir()) == []
    assert (config.path.parent / "all.jsonl").stat().st_size > 0
