"""Exit codes and the one line that says why. Each code of docs/command-line.md is seen, here or in two others."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from support.commands import run as command
from support.pages import ROOT, table
from support.raw_server import always, http, serving

import dataaccess as da

DAY = ("--on", "2024-01-15")
NOT_JSON = http(b"<html>welcome</html>", content_type="text/html")


def of_codes(run: Any, *words: str) -> Any:
    return run("codes", *DAY, *words)


def seen_in_process() -> dict[int, str]:
    """The codes that need a process of their own: its test."""
    return {
        70: "test_a_defect_is_reported_as_one",
        130: "test_ctrl_c",
        141: "test_a_reader_that_ends_first",
        143: "test_sigterm",
    }


# The exit code, what was typed, and what the line names.
CASES: list[Any] = [
    (0, ["codes", *DAY, "--limit", "1"], ""),
    (2, ["codez"], "'codez'.*'codes'.* --help"),
    (2, ["codes", "--staus=used"], "'--staus'.*'--status'.* --help"),
    (2, ["codes"], "none .*--on, --since, --until, --days .*--last .*--where"),
    (2, ["codes", *DAY, "--since", "2024-01-01"], "several .*--on, --since, --until, --days"),
    (2, ["codes", *DAY, "--limit", "0"], "'--limit': 0 "),
    (2, ["codes", *DAY, "--timeout", "soon"], "'--timeout': 'soon' .*90s, 10m, 2h"),
    (2, ["codes", *DAY, "--audience", "@/nowhere"], "'--audience': .*'/nowhere'"),
    (2, ["codes", *DAY, "--audience", "@~nobody-here/a"], "'--audience': .*'~nobody-here/a'"),
    (2, ["codes", *DAY, "--status", ","], "'--status': ',' .*@FILE"),
    (2, ["codes", *DAY, "--json", "--format", "csv"], "--json .*--format csv"),
    (2, ["codes", *DAY, "--format", "xls"], "'--format': 'xls' .*csv.*jsonl.*parquet"),
    (2, ["codes", *DAY, "--where", "on('2024-01-15')"], "^dataaccess: --where .*--on"),
    (2, ["codes", "--status", "used", "--where", "{}"], "^dataaccess: --where .*--status"),
    (2, ["codes", "--where", "{"], "'--where': .*JSON .*character 2"),
    (2, ["codes", "--where", "[]"], "'--where': .* not a condition"),
    (2, ["codes", "--where", "days('2024-01-01')"], r"'--where': .* character 1: .*\bstop\b"),
    (2, ["items", "customer"], "--attrs: .*--attrs customer_id,name "),
    (2, ["items", "customer", "--attrs", "a", "--matches", "a"], "'--matches': 'a' .*COLUMN=a,b .*COLUMN:=1,2"),
    (2, ["items", "customer", "--attrs", "a", "--matches", "a:=x"], "'--matches': 'x' .*JSON .*a=x"),
    (2, ["items", "customer", "--attrs", "a", "--matches", "a=1", "--where", "{}"], "--where .*--matches"),
    (2, ["segment", "x"], "'EXPORT_ID': 'x' "),
    (2, ["codes", *DAY, "--accept", "all"], "--accept: .*--folder"),
    (2, ["codes", *DAY, "--folder", "a", "-o", "b.csv"], "--folder .*--output"),
    (2, ["codes", *DAY, "--schema", "x"], "'--schema': 'x' .*COLUMN=TYPE"),
    (2, ["codes", "--on", "2024-13-01"], "^dataaccess: --on: .*2024-13-01 "),
    (2, ["codes", *DAY, "--status", "sent,7"], r"^dataaccess: --status\[1\]: 7 "),
    (2, ["codes", *DAY, "--attrs", "idd"], r'^dataaccess: --attrs\[0\]: "idd" '),
    (2, ["items", "store", "--attrs", "a"], "^dataaccess: --item-type-id: "),
    (2, ["items", "customer", "--attrs", "a", "--where", "{}"], r'^dataaccess: --where\["OR"\]: '),
    (2, ["codes", *DAY, "-o", "ftp://host/a.csv"], r"^dataaccess: --output: 'ftp://host/a\.csv' "),
    (2, ["codes", *DAY, "--format", "csv", "-o", "a.xlsx"], r"^dataaccess: --output 'a\.xlsx' .* \.xlsx"),
    (69, ["segment", "77"], r"HTTP 404\): exportId: .*\b77$"),
    (74, ["codes", *DAY, "-o", "/nowhere/a.parquet"], r"^dataaccess: `/nowhere/a\.parquet` "),
    (74, ["codes", *DAY, "--folder", "/dev/null/a"], "^dataaccess: `/dev/null/a` "),
    (2, ["codes", *DAY, "--base-url", "cdp"], "^dataaccess: --base-url .*https://cdp"),
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
    if code:
        assert ended.output == ""


def test_settings_that_are_missing_are_named_as_options(run: Any) -> None:
    ended = of_codes(run)
    assert ended.code == 78
    assert "DATAACCESS_BASE_URL" in ended.reported
    assert "sandbox:demo" in ended.reported
    assert "token=" not in ended.reported


def test_a_response_that_is_none_is_65(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    with serving(always(NOT_JSON)) as server:
        ended = of_codes(run, "--base-url", server.base_url)
    assert (ended.code, ended.output, ended.reported.count("\n")) == (65, "", 1)


def test_a_service_that_is_away_is_75(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    monkeypatch.setenv("DATAACCESS_RETRY_FOR", "0")
    ended = of_codes(run, "--base-url", "http://127.0.0.1:9")
    assert (ended.code, ended.reported.count("\n")) == (75, 1)


@pytest.mark.parametrize(
    ("variables", "words", "fault", "named"),
    [
        ({"RETRY_FOR": "0.1"}, [], {"kind": "status", "status": 503}, "DATAACCESS_RETRY_FOR"),
        ({"BASE_URL": "http://cdp.example.com"}, [], None, "DATAACCESS_ALLOW_HTTP"),
        ({}, ["--audience-type", "customer"], None, "--audience"),
        ({"KNOWN_ROW_CAP": "73"}, ["--strict"], None, "--split-capped"),
    ],
    ids=lambda value: "" if isinstance(value, dict | None) else " ".join(value) if isinstance(value, list) else value,
)
def test_a_remedy_names_an_option_or_a_variable(
    demo: da.Sandbox,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    variables: dict[str, str],
    words: list[str],
    fault: dict[str, Any] | None,
    named: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, value in variables.items():
        monkeypatch.setenv(f"DATAACCESS_{name}", value)
    with demo.fault(**fault) if fault else nullcontext():
        # In this process the sandbox would be known, whose clients read no settings from the environment.
        ended = command("codes", *DAY, *words)
    assert ended.returncode != 0
    assert re.search(rf"(?<![\w-]){named}(?![\w-])", ended.stderr), ended.stderr


def test_a_refused_token_is_77_and_not_shown(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-hunter2")
    ended = of_codes(run, "-v")
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
    import sys

    for name in [name for name in sys.modules if name.startswith("dataaccess.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "click", None)
    ended = run("codes")
    assert (ended.code, ended.output) == (2, "")
    assert re.fullmatch("dataaccess: .*: pip install click\n", ended.reported)


def test_every_code_of_the_page_is_seen() -> None:
    # In test_check.py is 1.
    here = {case[0] for case in CASES} | {1, 64, 65, 75, 77}
    codes = {int(row[0]) for row in table(ROOT / "docs" / "command-line.md", "## Exit codes")}
    assert codes == here | seen_in_process().keys()
    files = ("test_processes.py", "test_streams.py")
    text = "".join((Path(__file__).parent / file).read_text(encoding="utf-8") for file in files)
    assert [name for name in seen_in_process().values() if f"def {name}" not in text] == []
