"""What was typed wrong: one line in the words of the command, exit code 2, no suggestion that changes the result."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

DAY = ("--on", "2024-01-15")
SUGGESTIONS: list[tuple[list[str], str]] = [
    (
        ["codes", "--from", "2024-01-01"],
        "there is no option --from; did you mean '--since'? (see dataaccess codes --help)",
    ),
    (
        ["codes", "--date", "2024-01-01"],
        "there is no option --date; did you mean '--on'? (see dataaccess codes --help)",
    ),
    (
        ["codes", *DAY, "--url", "x"],
        "there is no option --url; did you mean '--base-url'? (see dataaccess codes --help)",
    ),
    (
        ["codes", "--since", "2024-01-01", "--to", "2024-01-31"],
        (
            "there is no option --to; --days START STOP is a range without STOP; --until DAY is an end that includes "
            "the day, --before DAY excludes it (see dataaccess codes --help)"
        ),
    ),
    (["codes", *DAY, "--retries", "3"], "there is no option --retries (see dataaccess codes --help)"),
    (
        ["codes", *DAY, "--output", "x.csv"],
        "there is no option --output; dataaccess scan codes --output FILE writes a file (see dataaccess codes --help)",
    ),
    (
        ["scan", "codes", *DAY, "--limit", "3"],
        (
            "there is no option --limit; dataaccess codes --limit N ends with N rows; a scan writes all "
            "(see dataaccess scan codes --help)"
        ),
    ),
    (
        ["validate", "codes", *DAY, "--profile", "x"],
        "there is no option --profile (see dataaccess validate codes --help)",
    ),
    (
        ["codes", *DAY, "--limti", "3"],
        "there is no option --limti; did you mean '--limit'? (see dataaccess codes --help)",
    ),
    (
        ["codes", *DAY, "--token", "sbx_0123"],
        (
            "no option takes a token: set DATAACCESS_TOKEN, or write it into a file for --token-file "
            "(see dataaccess codes --help)"
        ),
    ),
    (
        ["--base-url", "sandbox:demo", "codes"],
        (
            "there is no option --base-url before the command: write it after the command, as in "
            "dataaccess codes --base-url (see dataaccess --help)"
        ),
    ),
    (["--versoin"], "there is no option --versoin; did you mean '--version'? (see dataaccess --help)"),
    (["codes", "--on"], "option '--on' requires an argument (see dataaccess codes --help)"),
    (["codes", *DAY, "--on", "2024-01-16"], "--on is given 2 times, and takes one value (see dataaccess codes --help)"),
    (
        [
            "items",
            "customer",
            "--attrs",
            "a",
            "--attrs",
            "b",
            "--days",
            "a=2024-01-01",
            "2024-01-02",
            "--days",
            "a=x",
            "y",
        ],
        "--days is given 2 times, and takes one value (see dataaccess items --help)",
    ),
]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("words", "message"), SUGGESTIONS, ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else ""
)
def test_a_suggestion_is_right_or_absent(run: Any, words: list[str], message: str) -> None:
    ended = run(*words)
    assert (ended.code, ended.output, ended.reported) == (2, "", f"dataaccess: {message}\n")


ITEMS = ("items", "promotion_code", "--attrs", "id")
SCAN = ("scan", "codes", *DAY)
MISTAKES: list[tuple[list[str], str]] = [
    (["codes", *DAY, "--timeout", "0"], "--timeout must be more than 0 and at most 31622400 seconds (a year), not 0"),
    (["codes", *DAY, "--timezone", "Mars"], '--timezone must be an IANA time zone, not "Mars"'),
    (["validate", "codes", *DAY, "--timezone", "Mars"], '--timezone must be an IANA time zone, not "Mars"'),
    (["codes", *DAY, "--limit", "x"], "'--limit': 'x' is not a valid integer"),
    (
        ["codes", *DAY, "--audience-type", "customer"],
        "--audience-type: audience_type without allocated_audience silently matches nothing",
    ),
    (["segment", "1", "--wait", "--poll", "0"], "--poll must be a positive, finite number of seconds, not 0"),
    (["segment", "1", "--timeout", "0"], "--timeout must be a positive, finite number of seconds, not 0"),
    (["segment", "1.5"], "'1.5' is not a valid integer"),
    (["doctor", "--day", "2031-13-15"], "--day: there is no 2031-13-15 in the calendar"),
    (
        [*ITEMS, "--after", "allocated_time=2024-13-01"],
        'where: col("allocated_time").after: there is no 2024-13-01 in the calendar',
    ),
    ([*ITEMS], "where: allocated_time is required in a promotion code search: add "),
    (
        [*SCAN, "-o", "a.csv", "--format", "jsonl"],
        "--output 'a.csv' has a suffix of --format csv: leave --format jsonl out",
    ),
    ([*SCAN, "-o", "a.parquet.gz"], "--output 'a.parquet.gz' ends with .gz, which --format parquet does not write"),
    ([*SCAN, "-o", "a.arrow.zst"], "--output 'a.arrow.zst' ends with .zst, which --format arrow does not write"),
    ([*SCAN, "-o", "a.csv", "--schema", "nope=int64"], '--schema["nope"]: is not among attrs'),
    ([*SCAN, "--folder", "a", "--refresh", "2024-13-01"], '--refresh: `2024-13-01` is not a day: write "last 3 days"'),
    (["sandbox", "--switch", "latency=abc"], "--switch: latency: `abc` is not a value of it"),
    (["sandbox", "--scopes", "foo"], "--scopes: there is no `foo`"),
    (["codes", *DAY, "--token-file", "sbx_57622b1f0c3a4d5e"], "the token file sbx_5762… cannot be read: No such file"),
]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("words", "message"), MISTAKES, ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else ""
)
def test_a_mistake_is_told_in_the_words_of_the_command(
    run: Any, words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(*words)
    assert (ended.code, ended.output, ended.reported.count("\n")) == (2, "", 1), ended
    assert message in ended.reported
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
    assert ended.reported.endswith(f"; there is no file of profiles {file}\n")
    file.parent.mkdir()
    file.write_text("[profiles.other]\n")
    assert run("codes", *DAY).reported.endswith(f"; {file} has no profile default\n")


def test_a_home_that_may_not_be_read_is_no_output_that_failed(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # A name that is too long fails for every user; a folder of another user does not for root.
    folder = "/" + "x" * 300
    monkeypatch.setenv("XDG_CONFIG_HOME", folder)
    monkeypatch.setenv("APPDATA", folder)
    for words in (("codes", *DAY), ("doctor",)):
        ended = run(*words)
        assert ended.code == 78, ended
        assert "could not be written" not in ended.reported
    assert f"there is no file of profiles {folder}" in run("codes", *DAY).reported


def test_a_setting_of_a_profile_is_78(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("APPDATA", str(tmp_path))
    file = tmp_path / "dataaccess" / "config.toml"
    file.parent.mkdir()
    file.write_text('[profiles.ci]\nbase_url = "http://127.0.0.1:9"\ntoken = "tok"\ntimeout = 0\n')
    file.chmod(0o644)
    ended = run("codes", *DAY, "--profile", "ci", "--timezone", "UTC", keeps_warnings=True)
    assert (ended.code, ended.output) == (78, "")
    assert "timeout must be more than 0" in ended.reported
    file.write_text(file.read_text().replace("timeout = 0", "retry_for = 0"))
    ended = run("codes", *DAY, "--profile", "ci", keeps_warnings=True)
    assert ended.code == 75
    assert ended.reported.count("run chmod 600 on it") == 1


def test_log_lines_have_a_time_and_no_missing_status(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    ended = run("codes", *DAY, "-v", "--retry-for", "0", "--base-url", "http://127.0.0.1:9")
    lines = ended.reported.splitlines()[:-1]
    assert len(lines) == 2
    time = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d"
    assert [
        bool(re.match(rf"{time} dataaccess: scan_codes 2024-01-15: attempt 1 (began|ended)", line)) for line in lines
    ] == [
        True,
        True,
    ]
    assert "HTTP None" not in ended.reported


@pytest.mark.skipif(sys.platform == "win32", reason="needs a terminal of POSIX")
def test_a_probe_that_is_not_confirmed_sends_nothing(demo: da.Sandbox) -> None:
    from support.command_terminal import in_terminal

    demo.clear_requests()
    code, printed = in_terminal("probe", "--day", "2024-01-15", respond=b"n\n")
    assert code == 1
    assert printed.endswith("dataaccess: nothing was sent\n")
    assert demo.requests == []
