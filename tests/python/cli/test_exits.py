"""Exit codes and the one line that says why. Each code of docs/command-line.md is seen, here or in two others."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest
from support.profiles import Config, config

import dataaccess as da

__all__ = ["config"]

DAY = ("--on", "2024-01-15")


# The exit code, what was typed, and what the line names. Other mistakes are in tests/python/messages.
CASES: list[Any] = [
    (0, ["codes", *DAY, "--limit", "1"], ""),
    (2, ["codes", *DAY, "--audience", "@~nobody-here/a"], "'--audience': .*'~nobody-here/a'"),
    (2, ["codes", *DAY, "--schema", "nope=int64", "-o", "/nowhere/a.csv"], r'^dataaccess: --schema\["nope"\]: '),
    (2, ["codes", *DAY, "--token=sbx_57622b1f0c3a4d5e"], "--token'.*--token-file"),
    (2, ["codes", *DAY, "--token", "sbx_57622b1f0c3a4d5e"], "--token'.*--token-file"),
    (2, ["codes", *DAY, "--token-file", "sbx_57622b1f0c3a4d5e"], "'--token-file': .* sbx_5762… "),
    (69, ["segment", "77"], r"HTTP 404\): exportId: .*\b77$"),
    (74, ["codes", *DAY, "-o", "/nowhere/a.parquet"], r"^dataaccess: `/nowhere/a\.parquet` "),
    (74, ["codes", *DAY, "--folder", "/dev/null/a"], "^dataaccess: `/dev/null/a` "),
    (78, ["codes", *DAY, "--base-url", "http://127.0.0.1:9"], r"\bDATAACCESS_TOKEN .*\bDATAACCESS_BASE_URL\b"),
    (78, ["codes", *DAY, "--profile", "nobody"], "^dataaccess: .*'nobody'"),
]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("code", "words", "data"), CASES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_wrong_command_names_the_option_in_one_line(run: Any, code: int, words: list[str], data: str) -> None:
    ended = run(*words)
    assert ended.code == code, ended
    assert re.search(data, ended.reported), ended.reported
    assert ended.reported.count("\n") == (0 if code == 0 else 1)
    assert "7622b1f" not in ended.reported
    if code:
        assert ended.output == ""


def test_a_refused_token_is_77_and_not_shown(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-hunter2")
    ended = run("codes", *DAY, "-v")
    assert ended.code == 77
    assert "hunter2" not in ended.reported
    assert re.search(r"dataaccess: scan_codes 2024-01-15: .*\b1\b", ended.reported)
    assert demo.requests


@pytest.mark.usefixtures("demo")
def test_a_folder_of_another_query_is_64(run: Any, tmp_path: Path) -> None:
    words = ["codes", "--days", "2024-01-14", "2024-01-15", "--folder", str(tmp_path / "codes")]
    assert run(*words).code == 0
    ended = run(*words, "--attrs", "id")
    assert (ended.code, ended.reported.count("\n")) == (64, 1)


def test_without_click_one_line_says_what_to_install(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("dataaccess.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "click", None)
    ended = run("codes")
    assert (ended.code, ended.output) == (2, "")
    assert re.fullmatch("dataaccess: .*: pip install click\n", ended.reported)


def test_what_is_missing_names_the_file_of_profiles(run: Any, config: Config) -> None:
    config.path.unlink()
    ended = run("codes", *DAY)
    assert ended.code == 78
    assert ended.reported.endswith(f" {config.path}\n")
    config.write("[profiles.other]\n")
    assert run("codes", *DAY) == ended


def test_a_home_that_may_not_be_read_is_no_output_that_failed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A name that is too long fails for every user; a folder of another user does not for root.
    folder = "/" + "x" * 300
    monkeypatch.setenv("XDG_CONFIG_HOME", folder)
    monkeypatch.setenv("APPDATA", folder)
    for words in (("codes", *DAY), ("check",)):
        assert run(*words).code == 78
    assert folder in run("codes", *DAY).reported


def test_a_setting_of_a_profile_is_78(run: Any, config: Config) -> None:
    profile = '[profiles.ci]\nbase_url = "http://127.0.0.1:9"\ntoken = "tok"\ntimeout = 0\n'
    config.write(profile, 0o644)
    ended = run("codes", *DAY, "--profile", "ci", "--timezone", "UTC", keeps_warnings=True)
    assert (ended.code, ended.output) == (78, "")
    assert re.search(r"\btimeout .* 0\b", ended.reported)
    config.write(profile.replace("timeout = 0", "retry_for = 0"), 0o644)
    ended = run("codes", *DAY, "--profile", "ci", keeps_warnings=True)
    assert ended.code == 75
    assert ended.reported.count("chmod 600") == 1


def test_log_lines_have_a_time_and_no_missing_status(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    monkeypatch.setenv("DATAACCESS_RETRY_FOR", "0")
    ended = run("codes", *DAY, "-v", "--base-url", "http://127.0.0.1:9")
    lines = ended.reported.splitlines()[:-1]
    assert len(lines) == 2
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"
    assert all(re.match(rf"{time} dataaccess: scan_codes 2024-01-15: .*\b1\b", line) for line in lines)
    assert "HTTP None" not in ended.reported
