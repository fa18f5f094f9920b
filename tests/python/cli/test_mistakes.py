"""What was typed wrong: one line in the words of the command, exit code 2, no suggestion that changes the result."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

DAY = ("--on", "2024-01-15")
# What was typed, and the options that the error names.
SUGGESTIONS: list[tuple[list[str], str]] = [
    (["codes", *DAY, "--limti", "3"], "--limti --limit --help"),
    (["codes", *DAY, "--basurl", "x"], "--basurl --base-url --help"),
    (["codes", *DAY, "--token", "sbx_0123"], "--token --token-file --help"),
    (["codes", *DAY, "--token=sbx_0123"], "--token --token-file --help"),
    (["codes", *DAY, "--zzz", "3"], "--zzz --help"),
    (["status", ".", "--profile", "x"], "--profile --help"),
    (["--base-url", "sandbox:demo", "codes"], "--base-url --help"),
    (["--versoin"], "--versoin --version --help"),
    (["codes", "--on"], "--on --help"),
    (["codes", "--days", "2024-01-01"], "--days --help"),
    (["codes", "--days", "2024-01-01", "--folder", "a"], "--days --folder --help"),
    (["codes", "--on", "--folder", "a"], "--on --folder --help"),
    (["codes", *DAY, "--on", "2024-01-16"], "--on --help"),
    (["codes", *["--days", "2024-01-01", "2024-01-02"] * 2], "--days --help"),
]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("words", "named"), SUGGESTIONS, ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else ""
)
def test_an_unknown_option_names_the_nearest(run: Any, words: list[str], named: str) -> None:
    ended = run(*words)
    assert (ended.code, ended.output, ended.reported.count("\n")) == (2, "", 1)
    assert re.findall(r"(?<![\w-])--[a-z-]+", ended.reported) == named.split()
    assert "sbx_" not in ended.reported


ITEMS = ("items", "promotion_code", "--attrs", "id")
CODES = ("codes", *DAY)
# What was typed, and what the error names.
MISTAKES: list[tuple[list[str], str]] = [
    (["codes", *DAY, "--timeout", "0"], "^dataaccess: --timeout .* 0$"),
    (["codes", *DAY, "--timezone", "Mars"], '^dataaccess: --timezone .*"Mars"'),
    (["codes", *DAY, "--limit", "x"], "'--limit': 'x' "),
    (
        ["codes", *DAY, "--audience-type", "customer"],
        "^dataaccess: --audience-type: .*is --audience\\b",
    ),
    (["codes", "--on", "2024-01-15T10:00"], "2024-01-15T10:00 has a time of day: write 2024-01-15 "),
    (["codes", "--since", "2024-01-15 10:00:00"], "has a time of day: write 2024-01-15 "),
    (["segment", "1", "--timeout", "0"], "^dataaccess: --timeout .* 0$"),
    (["check", "--day", "2031-13-15"], "^dataaccess: --day: .*2031-13-15 "),
    (
        [*ITEMS, "--where", "col('allocated_time').after('2024-13-01')"],
        r'^dataaccess: --where: col\("allocated_time"\)\.after: .*2024-13-01 ',
    ),
    ([*ITEMS], "^dataaccess: --where: allocated_time "),
    ([*ITEMS, "--matches", "age=1"], r'^dataaccess: --matches: col\("age"\)'),
    ([*CODES, "-o", "a.csv", "--schema", "nope=int64"], r'^dataaccess: --schema\["nope"\]: '),
    ([*CODES, "--folder", "a", "--refresh", "2024-13-01"], "^dataaccess: --refresh: `2024-13-01` "),
    ([*CODES, "--folder", "a", "--refresh", "last 3 days"], "^dataaccess: --refresh: `last 3 days` "),
    ([*CODES, "--folder", "a", "--refresh", "last_days(x)"], r"^dataaccess: --refresh: .*last_days\(x\)"),
    ([*CODES, "--folder", "a", "--refresh", "col('id')"], r"^dataaccess: --refresh: .*col\('id'\)"),
    ([*CODES, "--folder", "a", "--accept", "2024-01-16"], "^dataaccess: --accept: 2024-01-16 "),
    ([*CODES, "--folder", "a", "--settle", "soon"], "'--settle': 'soon' "),
    ([*CODES, "--folder", "a", "--settle", "9999d"], "--settle.* 1000"),
    (["codes", *DAY, "--token-file", "sbx_57622b1f0c3a4d5e"], "'--token-file': .* sbx_5762… "),
]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("words", "data"), MISTAKES, ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else ""
)
def test_a_mistake_is_told_in_the_words_of_the_command(
    run: Any, words: list[str], data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(*words)
    assert (ended.code, ended.output, ended.reported.count("\n")) == (2, "", 1), ended
    assert re.search(data, ended.reported), ended.reported
    assert "7622b1f" not in ended.reported
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("demo")
def test_help_is_a_command_too(run: Any) -> None:
    assert run("help") == run("--help")
    assert run("help", "codes") == run("codes", "--help")


def test_what_is_missing_names_the_file_of_profiles(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    ended = run("codes", *DAY)
    assert ended.code == 78
    file = tmp_path / "dataaccess" / "config.toml"
    assert ended.reported.endswith(f" {file}\n")
    file.parent.mkdir()
    file.write_text("[profiles.other]\n")
    assert re.search(rf" {re.escape(str(file))} .*\bdefault$", run("codes", *DAY).reported)


def test_a_home_that_may_not_be_read_is_no_output_that_failed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A name that is too long fails for every user; a folder of another user does not for root.
    folder = "/" + "x" * 300
    monkeypatch.setenv("XDG_CONFIG_HOME", folder)
    monkeypatch.setenv("APPDATA", folder)
    for words in (("codes", *DAY), ("check",)):
        assert run(*words).code == 78
    assert folder in run("codes", *DAY).reported


def test_a_setting_of_a_profile_is_78(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    file = tmp_path / "dataaccess" / "config.toml"
    file.parent.mkdir()
    file.write_text('[profiles.ci]\nbase_url = "http://127.0.0.1:9"\ntoken = "tok"\ntimeout = 0\n')
    file.chmod(0o644)
    ended = run("codes", *DAY, "--profile", "ci", "--timezone", "UTC", keeps_warnings=True)
    assert (ended.code, ended.output) == (78, "")
    assert re.search(r"\btimeout .* 0\b", ended.reported)
    file.write_text(file.read_text().replace("timeout = 0", "retry_for = 0"))
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
