"""Exit codes and the one line that says why. Each code of docs/command-line.md is seen, here or in two others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
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


CASES: list[Any] = [
    (0, ["codes", *DAY, "--limit", "1"], ""),
    (2, ["codez"], "dataaccess: there is no command 'codez'; did you mean 'codes'? (see dataaccess --help)"),
    (2, ["scan", "code"], "there is no command 'code'; did you mean 'codes'? (see dataaccess scan --help)"),
    (
        2,
        ["codes", "--staus=used"],
        "there is no option --staus; did you mean '--status'? (see dataaccess codes --help)",
    ),
    (2, ["codes"], "one time condition, and none is given: write one of --on, --since, --until, --after and"),
    (2, ["codes", *DAY, "--since", "2024-01-01"], "several of them are given"),
    (2, ["codes", *DAY, "--limit", "0"], "'--limit': 0 is not in the range x>=1"),
    (
        2,
        ["codes", *DAY, "--timeout", "soon"],
        "'soon' is not a duration: write seconds, or a unit as in 90s, 10m and 2h",
    ),
    (2, ["codes", *DAY, "--audience", "@/nowhere"], "the file '/nowhere' cannot be read: No such file or directory"),
    (2, ["codes", *DAY, "--audience", "@~nobody-here/a"], "the file '~nobody-here/a' cannot be read: No such file"),
    (2, ["codes", *DAY, "--status", ","], "has no value: write them as a,b or as @FILE, one a line"),
    (2, ["codes", *DAY, "--json", "--csv"], "--json and --csv exclude each other"),
    (2, ["codes", *DAY, "--filter", "{}"], "--filter is the whole filter: leave out --on"),
    (2, ["codes", "--filter", "{"], "is not JSON: "),
    (2, ["codes", "--filter", "[]"], "it is not a JSON object"),
    (2, ["items", "customer"], "missing option --attrs: write the attributes to return"),
    (
        2,
        ["items", "customer", "--attrs", "a", "--matches", "a"],
        "'a' is not COLUMN=a,b (strings) or COLUMN:=1,2 (numbers)",
    ),
    (
        2,
        ["items", "customer", "--attrs", "a", "--matches", "a:=x"],
        "'x' is not JSON values as 1,2: write a=x for strings",
    ),
    (2, ["items", "customer", "--attrs", "a", "--on", "2024"], "'2024' is not COLUMN=DAY, such as opened=2024-01-31"),
    (2, ["segment", "x"], "'EXPORT_ID': 'x' is not a valid integer"),
    (2, ["segment", "1", "--poll", "1"], "--poll is for --wait"),
    (
        2,
        ["scan", "codes", *DAY, "-o", "codes"],
        "--output 'codes' has none of the suffixes .parquet, .pq; .csv, .tsv, each also with .gz, .zst; ",
    ),
    (2, ["scan", "codes", *DAY, "--fail-fast"], "--fail-fast: only with --folder"),
    (2, ["scan", "codes", *DAY, "--folder", "a", "-o", "b.csv"], "--folder holds Parquet files: leave out --output"),
    (2, ["scan", "codes", *DAY, "--json"], "name a file"),
    (2, ["scan", "codes", *DAY, "--schema", "x"], "'x' is not COLUMN=TYPE, such as area=float64"),
    (2, ["scan", "codes", *DAY, "-o", "s3://bucket/a.arrow"], "Arrow is written to this machine only"),
    (2, ["codes", "--on", "2024-13-01"], "dataaccess: --on: there is no 2024-13-01 in the calendar"),
    (2, ["codes", *DAY, "--status", "sent,7"], "dataaccess: --status[1]: 7 is not a value of code_status"),
    (2, ["codes", *DAY, "--attrs", "idd"], 'dataaccess: --attrs[0]: "idd" is not an attribute of promotion codes'),
    (2, ["items", "store", "--attrs", "a"], "dataaccess: --item-type-id: is required"),
    (2, ["items", "customer", "--attrs", "a", "--filter", "{}"], 'dataaccess: --filter["OR"]: is required'),
    (
        2,
        ["scan", "codes", *DAY, "-o", "ftp://host/a.csv"],
        "dataaccess: --output: 'ftp://host/a.csv' is not on this machine",
    ),
    (2, ["scan", "codes", *DAY, "--format", "csv", "-o", "a.xlsx"], "dataaccess: --output 'a.xlsx' ends with .xlsx"),
    (2, ["scan", "codes", "--days", "2024-01-01", "2024-01-03", "--folder", "x", "--refresh", "soon"], "--refresh"),
    (69, ["segment", "77"], "there is no export 77"),
    (74, ["scan", "codes", *DAY, "-o", "/nowhere/a.parquet"], "dataaccess: "),
    (74, ["scan", "codes", *DAY, "--folder", "/dev/null/a"], "dataaccess: "),
    (2, ["codes", *DAY, "--base-url", "cdp"], "is not a URL"),
    (
        78,
        ["codes", *DAY, "--base-url", "http://127.0.0.1:9"],
        "the token of DATAACCESS_TOKEN is for the address of DATAACCESS_BASE_URL",
    ),
    (78, ["codes", *DAY, "--profile", "nobody"], "dataaccess: there is no profile 'nobody'"),
    (2, ["codes", *DAY, "--token-file", "/nowhere"], "'--token-file': the token file /nowhere cannot be read"),
]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("code", "words", "message"), CASES, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_wrong_command_names_the_option_in_one_line(run: Any, code: int, words: list[str], message: str) -> None:
    ended = run(*words)
    assert ended.code == code, ended
    assert message in ended.reported
    assert ended.reported.count("\n") == (0 if code == 0 else 1)
    if code:
        assert ended.output == ""


def test_settings_that_are_missing_are_named_as_options(run: Any) -> None:
    ended = of_codes(run)
    assert ended.code == 78
    assert "set DATAACCESS_BASE_URL" in ended.reported
    assert "sandbox:demo" in ended.reported
    assert "token=" not in ended.reported


def test_a_response_that_is_none_is_65(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    with serving(always(NOT_JSON)) as server:
        ended = of_codes(run, "--base-url", server.base_url, "--retry-for", "0")
    assert (ended.code, ended.output, ended.reported.count("\n")) == (65, "", 1)


def test_a_service_that_is_away_is_75(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    ended = of_codes(run, "--base-url", "http://127.0.0.1:9", "--retry-for", "0")
    assert (ended.code, ended.reported.count("\n")) == (75, 1)


def test_a_refused_token_is_77_and_not_shown(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok-hunter2")
    ended = of_codes(run, "-v")
    assert ended.code == 77
    assert "hunter2" not in ended.reported
    assert "dataaccess: search_codes: attempt 1 began" in ended.reported or "attempt 1 began" in ended.reported
    assert demo.requests


@pytest.mark.usefixtures("demo")
def test_a_folder_of_another_query_is_64(run: Any, tmp_path: Path) -> None:
    words = ["scan", "codes", "--days", "2024-01-14", "2024-01-15", "--folder", str(tmp_path / "codes")]
    assert run(*words).code == 0
    ended = run(*words, "--attrs", "id")
    assert (ended.code, ended.reported.count("\n")) == (64, 1)


def test_a_zone_that_is_not_that_of_the_service_is_1(run: Any, demo: da.Sandbox) -> None:
    ended = run("doctor", "--day", "2024-01-15", "--timezone", "Asia/Tokyo", "--json")
    assert ended.code == 1
    assert json.loads(ended.output)["is_day_right"] is False
    assert demo.requests


def test_a_comparison_that_is_not_that_of_the_service_is_1(run: Any, demo: da.Sandbox) -> None:
    before = len(demo.requests)
    ended = run("doctor", "--day", "2024-01-15", "--day-comparison", "inclusive", "--json")
    found = json.loads(ended.output)
    assert (ended.code, found["is_day_right"], found["is_comparison_right"], found["ok"]) == (1, True, False, False)
    assert found["token"][-1] == {
        "name": "ranges",
        "ok": False,
        "detail": 'after_date and before_date do not include the day that they name: set day_comparison to "exclusive"',
    }
    assert 10 <= len(demo.requests) - before <= 13


def test_without_click_one_line_says_what_to_install(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.startswith("dataaccess.cli.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "click", None)
    ended = run("codes")
    assert (ended.code, ended.output) == (2, "")
    assert ended.reported == "dataaccess: the command needs click: pip install click\n"


def test_a_missing_package_is_named(
    run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    ended = run("scan", "codes", *DAY, "-o", str(tmp_path / "a.arrow"))
    assert ended.code == 2
    assert ended.reported == "dataaccess: pyarrow is not installed: pip install pyarrow\n"
    assert list(tmp_path.iterdir()) == []
    assert demo.base_url


def test_every_code_of_the_page_is_seen() -> None:
    here = {case[0] for case in CASES} | {1, 64, 65, 75, 77}
    codes = {int(row[0]) for row in table(ROOT / "docs" / "command-line.md", "## Exit codes")}
    assert codes == here | seen_in_process().keys()
    files = ("test_processes.py", "test_streams.py")
    text = "".join((Path(__file__).parent / file).read_text(encoding="utf-8") for file in files)
    assert [name for name in seen_in_process().values() if f"def {name}" not in text] == []
