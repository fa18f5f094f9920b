"""`codes` and `items`: which rows, in which form."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.commands import MODULE

import dataaccess as da

DAY = ("--on", "2024-01-15")


@pytest.mark.usefixtures("demo")
def test_rows_are_json_lines_in_a_pipe(run: Any, sandbox: da.Sandbox) -> None:
    ended = run("codes", *DAY)
    rows = [json.loads(line) for line in ended.output.splitlines()]
    assert (ended.code, ended.reported) == (0, "")
    assert rows == sandbox.client().search_codes(allocated_time=da.on("2024-01-15"))
    assert run("codes", *DAY, "--json", terminal=True).output == ended.output


def sent(demo: da.Sandbox) -> Any:
    """The filters of the last request."""
    body: Any = demo.requests[-1].body
    return body["filters"]["OR"][0]["AND"]


def test_values_and_conditions_come_from_files_and_standard_input(run: Any, demo: da.Sandbox, tmp_path: Path) -> None:
    ids, condition = tmp_path / "ids.txt", tmp_path / "condition.txt"
    ids.write_text("demo-customer-0001\n\n demo,with,commas \n", encoding="utf-8")
    assert run("codes", *DAY, "--audience", f"@{ids}", "--audience", "x,y").code == 0
    assert sent(demo)[0]["value"] == ["demo-customer-0001", "demo,with,commas", "x", "y"]
    items = ("items", "customer", "--attrs", "customer_id")
    words = ("--matches", "customer_id=a,b", "--matches", "customer_id=@-")
    assert run(*items, *words, "--where", "col('t').since('2024-01-15')", stdin=b"c\nd\n").code == 69
    assert [each["column"] for each in sent(demo)] == ["customer_id", "t"]
    assert sent(demo)[0]["value"] == ["a", "b", "c", "d"]
    filters = demo.requests[-1].body["filters"]
    for text in (
        "col('customer_id').matches(['a', 'b', 'c', 'd']) & col('t').since('2024-01-15')",
        json.dumps(filters),
    ):
        condition.write_text(text + "\n", encoding="utf-8")
        for given in (text, f"@{condition}", "@-"):
            run(*items, "--where", given, stdin=text.encode())
            assert demo.requests[-1].body["filters"] == filters


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("name", ["a.parquet", "a.csv", "a.tsv", "a.jsonl", "a.jsonl.gz"])
def test_a_scan_writes_the_format_of_the_suffix(run: Any, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    ended = run("codes", *DAY, "--attrs", "id,pool_id", "-o", str(file))
    assert (ended.code, ended.output) == (0, "")
    assert [path.name for path in tmp_path.iterdir()] == [name]
    if name == "a.parquet":
        assert pq.read_table(file).num_rows == 73
    elif name.endswith(".gz"):
        assert file.read_bytes()[:2] == b"\x1f\x8b"
    else:
        first = {"a.csv": "id,pool_id", "a.tsv": "id\tpool_id", "a.jsonl": '{"id":"demo-code-00015","pool_id":902}'}
        assert file.read_text(encoding="utf-8").splitlines()[0] == first[name]


def test_a_folder_resumes_and_reports(run: Any, demo: da.Sandbox, tmp_path: Path) -> None:
    words = ["codes", "--days", "2024-01-14", "2024-01-17", "--folder", str(tmp_path / "codes"), "--json"]
    reports = [json.loads(run(*words).output) for _ in range(2)]
    assert [(report["rows"], len(report["files"]), report["new"], report["kept"]) for report in reports] == [
        (215, 3, 3, 0),
        (215, 3, 0, 3),
    ]
    before = len(demo.requests)
    again = json.loads(run(*words, "--refresh", "2024-01-15").output)
    assert (again["refreshed"], len(demo.requests) - before) == (1, 1)
    day = again["files"][1]
    assert (day["day"], day["rows"], day["rows_before"]) == ("2024-01-15", 73, 73)
    assert (again["error"], again["failed"], again["warnings"]) == (None, {}, [])


def test_every_failure_is_reported_as_json(run: Any, demo: da.Sandbox, tmp_path: Path) -> None:
    file = ("codes", *DAY, "--json", "-o", str(tmp_path / "a.parquet"))
    with demo.fault("status", status=400, times=1):
        ended = run(*file)
    report = json.loads(ended.output)
    assert (ended.code, report["exit_code"], "HTTP 400" in report["error"]) == (69, 69, True)
    ended = run("codes", "--on", "2023-01-01", *file[3:], "--fail-empty")
    assert (ended.code, json.loads(ended.output)["exit_code"]) == (65, 65)
    report = json.loads(run(*file).output)
    assert (report["exit_code"], report["error"], report["rows"]) == (0, None, 73)
    folder = ("codes", *DAY, "--json", "--folder", str(tmp_path / "codes"))
    locked: list[Any] = []

    def meanwhile(_progress: da.Progress) -> None:
        locked.append(run(*folder))
        raise ZeroDivisionError

    with demo.fault("delay", seconds=10), pytest.raises(ZeroDivisionError):
        demo.client().scan_codes(allocated_time=da.on("2024-01-15")).to_folder(tmp_path / "codes", progress=meanwhile)
    assert (locked[0].code, json.loads(locked[0].output)["exit_code"]) == (75, 75)
    ended = run(*folder, "--refresh", "soon")
    assert (ended.code, json.loads(ended.output)["exit_code"]) == (2, 2)


@pytest.mark.usefixtures("demo")
def test_standard_output_has_a_name(run: Any, tmp_path: Path) -> None:
    assert run("codes", *DAY, "-o", "-").output == run("codes", *DAY).output
    csv_file = tmp_path / "a.csv"
    assert run("codes", *DAY, "-o", str(csv_file)).code == 0
    assert run("codes", *DAY, "-o", "-", "--format", "csv").output == csv_file.read_text(encoding="utf-8")


@pytest.mark.usefixtures("demo")
def test_parquet_goes_into_a_pipe_and_not_to_a_terminal(run: Any) -> None:
    done = subprocess.run([*MODULE, "codes", *DAY, "--format", "parquet"], capture_output=True, check=True)
    assert pq.read_table(io.BytesIO(done.stdout)).num_rows == 73
    ended = run("codes", *DAY, "--format", "parquet", terminal=True)
    assert (ended.code, ended.output, "--output FILE" in ended.reported) == (2, "", True)


@pytest.mark.usefixtures("demo")
def test_a_file_may_have_some_of_the_rows_and_a_folder_not(run: Any, tmp_path: Path) -> None:
    assert run("codes", *DAY, "--limit", "3", "-o", str(tmp_path / "a.parquet")).code == 0
    assert pq.read_table(tmp_path / "a.parquet").num_rows == 3
    ended = run("codes", *DAY, "--limit", "3", "--folder", str(tmp_path / "codes"))
    assert (ended.code, "limit" in ended.reported) == (2, True)


def test_a_plan_and_its_requests_need_neither_address_nor_token(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = run("codes", "--days", "2024-01-01", "2024-04-01", "--explain")
    assert ended.output.startswith("promotion_code (-100) in 91 requests")
    assert "--json prints all 91" in ended.output
    body = da.validate_codes(allocated_time=da.on("2024-01-01"))
    assert json.loads(ended.output.splitlines()[-1]) == body
    assert json.loads(run("codes", "--on", "2024-01-01", "--explain", "--json").output) == body
    days = run("codes", "--days", "2024-01-01", "2024-01-04", "--explain", "--json").output.splitlines()
    assert [json.loads(line)["filters"]["OR"][0]["AND"][0]["value"] for line in days] == [
        1704067200000,
        1704153600000,
        1704240000000,
    ]
    # What is named is used, and what is wrong with it is an error.
    monkeypatch.setenv("DATAACCESS_TIMEZONE", "Asia/Tokyo")
    found = json.loads(run("codes", "--on", "2024-01-01", "--explain", "--json").output)
    assert found["filters"]["OR"][0]["AND"][0]["value"] == 1704034800000
    assert run("codes", *DAY, "--explain", "--base-url", "cdp").code == 2
    ended = run("codes", *DAY, "--explain", "--timezone", "Mars")
    assert (ended.code, ended.reported.startswith("dataaccess: --timezone ")) == (2, True)
    monkeypatch.setenv("DATAACCESS_TIMEZONE", "Mars")
    assert run("codes", *DAY, "--explain").code == 78


@pytest.mark.usefixtures("demo")
def test_a_quiet_command_says_nothing_but_warnings(run: Any, tmp_path: Path) -> None:
    folder = ("codes", *DAY, "--folder", str(tmp_path / "codes"), "--quiet")
    assert run(*folder, terminal=True).reported == ""
    file = ("codes", *DAY, "-o", str(tmp_path / "a.csv"), "--quiet")
    assert run(*file, terminal=True).reported == ""
    ended = run("codes", *DAY, "--audience", "nobody", "--status", "available", "--quiet", keeps_warnings=True)
    assert re.fullmatch(r"dataaccess: warning: .*\n", ended.reported)


KNOWN = r"\.parquet, \.pq; \.csv, \.tsv,.* \.gz, \.zst; \.json, \.jsonl, \.ndjson,.* \.gz, \.zst\b"


@pytest.mark.parametrize(
    ("words", "code", "data"),
    [
        ("-o codes", 2, "--output 'codes' .*--folder codes"),
        ("-o a.x", 2, rf"--output 'a\.x' .*{KNOWN}.*--format"),
        ("-o a.parquet.zst", 2, r"--output 'a\.parquet\.zst' .* \.zst, .*--format parquet "),
        ("-o run/day=2024-01-15/a.csv", 2, "--output 'run/day=2024-01-15/a\\.csv' .*/run"),
        ("-o /dev/null --format csv", 74, "`/dev/null` "),
        ("--folder file.csv", 74, r"--folder: 'file\.csv' .*--output"),
        ("--explain --requested-at", 2, "--requested-at: .*--folder"),
    ],
)
def test_a_target_that_does_not_fit_sends_nothing(
    run: Any, demo: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, code: int, data: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "codes").mkdir()
    (tmp_path / "file.csv").touch()
    (tmp_path / "run" / ".dataaccess").mkdir(parents=True)
    before = len(demo.requests)
    ended = run("codes", *DAY, *words.split())
    assert (ended.code, ended.output, ended.reported.count("\n")) == (code, "", 1)
    assert re.match(f"dataaccess: {data}", ended.reported), ended.reported
    assert sorted(path.name for path in tmp_path.iterdir()) == ["codes", "file.csv", "run"]
    assert len(demo.requests) == before


@pytest.mark.usefixtures("demo")
@pytest.mark.skipif(sys.platform != "linux", reason="Linux names open files in /proc")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_link_to_an_open_file_stays(run: Any, tmp_path: Path, kind: str) -> None:
    with (tmp_path / "log").open("w") as log:
        link = tmp_path / "stdout"
        link.symlink_to(f"/proc/self/fd/{log.fileno()}")
        ended = run("codes", *DAY, "-o", str(link), "--format", kind)
        assert link.is_symlink()
    assert (ended.code, str(link) in ended.reported) == (74, True)
