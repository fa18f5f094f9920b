"""What was typed wrong: one line in the words of the command, exit code 2, no suggestion that changes the result."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

DAY = ("--on", "2024-01-15")
# What was typed, and the options that the error names.
SUGGESTIONS: list[tuple[list[str], str]] = [
    (["codes", "--from", "2024-01-01"], "--from --since --help"),
    (["codes", "--date", "2024-01-01"], "--date --on --help"),
    (["codes", *DAY, "--url", "x"], "--url --base-url --help"),
    (["codes", "--since", "2024-01-01", "--to", "2024-01-31"], "--to --days --until --before --help"),
    (["codes", *DAY, "--retries", "3"], "--retries --help"),
    (["codes", *DAY, "--output", "x.csv"], "--output --output --help"),
    (["scan", "codes", *DAY, "--limit", "3"], "--limit --limit --help"),
    (["validate", "codes", *DAY, "--profile", "x"], "--profile --help"),
    (["codes", *DAY, "--limti", "3"], "--limti --limit --help"),
    (["codes", *DAY, "--token", "sbx_0123"], "--token-file --help"),
    (["--base-url", "sandbox:demo", "codes"], "--base-url --base-url --help"),
    (["--versoin"], "--versoin --version --help"),
    (["codes", "--on"], "--on --help"),
    (["codes", *DAY, "--on", "2024-01-16"], "--on --help"),
    (
        ["items", "customer", "--attrs", "a", *["--days", "a=2024-01-01", "2024-01-02"] * 2],
        "--days --help",
    ),
]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("words", "named"), SUGGESTIONS, ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else ""
)
def test_a_suggestion_is_right_or_absent(run: Any, words: list[str], named: str) -> None:
    ended = run(*words)
    assert (ended.code, ended.output, ended.reported.count("\n")) == (2, "", 1)
    assert re.findall(r"(?<![\w-])--[a-z-]+", ended.reported) == named.split()
    assert "sbx_" not in ended.reported


ITEMS = ("items", "promotion_code", "--attrs", "id")
SCAN = ("scan", "codes", *DAY)
# What was typed, and what the error names.
MISTAKES: list[tuple[list[str], str]] = [
    (["codes", *DAY, "--timeout", "0"], "^dataaccess: --timeout .* 0$"),
    (["codes", *DAY, "--timezone", "Mars"], '^dataaccess: --timezone .*"Mars"'),
    (["validate", "codes", *DAY, "--timezone", "Mars"], '^dataaccess: --timezone .*"Mars"'),
    (["codes", *DAY, "--limit", "x"], "'--limit': 'x' "),
    (["codes", *DAY, "--audience-type", "customer"], "^dataaccess: --audience-type: .*allocated_audience"),
    (["segment", "1", "--wait", "--poll", "0"], "^dataaccess: --poll .* 0$"),
    (["segment", "1", "--timeout", "0"], "^dataaccess: --timeout .* 0$"),
    (["doctor", "--day", "2031-13-15"], "^dataaccess: --day: .*2031-13-15 "),
    (
        [*ITEMS, "--after", "allocated_time=2024-13-01"],
        r'^dataaccess: where: col\("allocated_time"\)\.after: .*2024-13-01 ',
    ),
    ([*ITEMS], "^dataaccess: where: allocated_time "),
    ([*SCAN, "-o", "a.csv", "--schema", "nope=int64"], r'^dataaccess: --schema\["nope"\]: '),
    ([*SCAN, "--folder", "a", "--refresh", "2024-13-01"], "^dataaccess: --refresh: `2024-13-01` "),
    ([*SCAN, "--folder", "a", "--refresh", "last 3 days"], "^dataaccess: --refresh: `last 3 days` "),
    ([*SCAN, "--folder", "a", "--refresh", "last_days(x)"], r"^dataaccess: --refresh: .*last_days\(x\)"),
    ([*SCAN, "--folder", "a", "--refresh", "col('id')"], r"^dataaccess: --refresh: .*col\('id'\)"),
    ([*SCAN, "--folder", "a", "--accept", "2024-01-16"], "^dataaccess: --accept: 2024-01-16 "),
    ([*SCAN, "--folder", "a", "--settle", "soon"], "'--settle': 'soon' "),
    ([*SCAN, "--folder", "a", "--settle", "9999d"], "--settle.* 1000"),
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
    assert run("help", "scan", "codes") == run("scan", "codes", "--help")
    assert run("scan", "help", "codes") == run("scan", "codes", "--help")


def test_validate_reads_neither_environment_nor_profile(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = run("validate", "codes", "--days", "2024-01-01", "2024-01-04")
    assert expected.output.count("\n") == 3
    folder = tmp_path / "dataaccess"
    folder.mkdir()
    record = tmp_path / "exchanges"
    (folder / "config.toml").write_text(f'[profiles.default]\nrecord = "{record}"\ntimezone = "Asia/Tokyo"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    for name, value in (
        ("DATAACCESS_PROFILE", "nope"),
        ("SSL_CERT_FILE", "/nonexistent"),
        ("HTTPS_PROXY", "::"),
        ("DATAACCESS_BASE_URL", "cdp"),
        ("DATAACCESS_PROFILE", "default"),
    ):
        monkeypatch.setenv(name, value)
        assert run("validate", "codes", "--days", "2024-01-01", "2024-01-04") == expected
    assert not record.exists()


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
    for words in (("codes", *DAY), ("doctor",)):
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
    ended = run("codes", *DAY, "-v", "--retry-for", "0", "--base-url", "http://127.0.0.1:9")
    lines = ended.reported.splitlines()[:-1]
    assert len(lines) == 2
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"
    assert all(re.match(rf"{time} dataaccess: scan_codes 2024-01-15: .*\b1\b", line) for line in lines)
    assert "HTTP None" not in ended.reported


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of POSIX")
def test_a_probe_that_is_not_confirmed_sends_nothing(demo: da.Sandbox) -> None:
    from support.command_terminal import in_terminal

    demo.clear_requests()
    code, printed = in_terminal("probe", "--day", "2024-01-15", respond=b"n\n")
    assert code == 1
    assert re.search(r"\[y/N\]: dataaccess: .*$", printed)
    assert demo.requests == []
