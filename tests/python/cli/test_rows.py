"""`codes` and `items`: which rows, in which form."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from support.commands import MODULE

import dataaccess as da

DAY = ("--on", "2024-01-15")
WHERE = {
    "OR": [
        {
            "AND": [
                {
                    "column": "customer_id",
                    "data_type": "string",
                    "operator": "matches",
                    "value_type": "normal",
                    "condition_type": "comp_attr",
                    "value": ["demo-customer-0001"],
                }
            ]
        }
    ]
}


@pytest.mark.usefixtures("demo")
def test_rows_are_json_lines_in_a_pipe(run: Any, sandbox: da.Sandbox) -> None:
    ended = run("codes", *DAY)
    rows = [json.loads(line) for line in ended.output.splitlines()]
    assert (ended.code, ended.reported) == (0, "")
    assert rows == sandbox.client().search_codes(allocated_time=da.on("2024-01-15"))
    assert run("codes", *DAY, "--json", terminal=True).output == ended.output


@pytest.mark.usefixtures("demo")
def test_rows_are_a_table_in_a_terminal(run: Any) -> None:
    ended = run("codes", *DAY, "--attrs", "id,code_status", terminal=True)
    lines = re.sub(r"\x1b\[\d+m", "", ended.output).splitlines()
    assert lines[:2] == ["id               code_status", "demo-code-00015            3"]
    assert len(lines) == 42
    assert lines[-1] == "73 rows; the first 40 are shown (--json writes all)"


@pytest.mark.usefixtures("demo")
def test_csv_has_a_line_of_names(run: Any) -> None:
    rows = list(csv.reader(io.StringIO(run("codes", *DAY, "--attrs", "id,pool_id", "--format", "csv").output)))
    assert rows[:2] == [["id", "pool_id"], ["demo-code-00015", "902"]]
    assert len(rows) == 74


def sent(demo: da.Sandbox) -> Any:
    """The filters of the last request."""
    body: Any = demo.requests[-1].body
    return body["filters"]["OR"][0]["AND"]


@pytest.mark.parametrize(
    ("words", "operator", "value"),
    [
        (["--on", "2024-01-15"], "equals", 1705276800000),
        (["--since", "2024-01-15"], "after_date", 1705276799999),
        (["--where", "after('2024-01-15')"], "after_date", 1705363199999),
        (["--where", "before('2024-01-15')"], "before_date", 1705276800000),
        (["--until", "2024-01-15"], "before_date", 1705363200000),
        (["--on", "2024-01-15", "--timezone", "Asia/Tokyo"], "equals", 1705244400000),
    ],
    ids=str,
)
def test_each_time_condition_of_codes_is_sent(
    run: Any, demo: da.Sandbox, words: list[str], operator: str, value: int
) -> None:
    assert run("codes", *words, "--limit", "1").code == 0
    assert (sent(demo)[-1]["operator"], sent(demo)[-1]["value"]) == (operator, value)


def test_the_conditions_of_codes_are_sent(run: Any, demo: da.Sandbox, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    ids.write_text("demo-customer-0001\n\n demo,with,commas \n", encoding="utf-8")
    words = ["--status", "sent,4", "--audience-type", "-1003", "--audience", f"@{ids}", "--audience", "x,y"]
    assert run("codes", *DAY, *words).code == 0
    assert [condition["value"] for condition in sent(demo)[:3]] == [
        [-1003],
        ["demo-customer-0001", "demo,with,commas", "x", "y"],
        [3, 4],
    ]


def test_the_conditions_of_items_are_sent(run: Any, demo: da.Sandbox) -> None:
    words = ["--matches", "customer_id=a,b", "--matches", "age:=17,18", "--matches", "customer_id=@-"]
    times = "col('t').since('2024-01-15') & col('u').since('2024-01-01') & col('u').before('2024-02-01')"
    run("items", "customer", "--attrs", "customer_id", *words, "--where", times, stdin=b"c\nd\n")
    found = [(each["column"], each["operator"], each["data_type"], each["value"]) for each in sent(demo)]
    assert found == [
        ("customer_id", "matches", "string", ["a", "b", "c", "d"]),
        ("age", "matches", "number", [17, 18]),
        ("t", "after_date", "datetime", 1705276799999),
        ("u", "after_date", "datetime", 1704067199999),
        ("u", "before_date", "datetime", 1706745600000),
    ]


@pytest.mark.parametrize("source", ["text", "file", "stdin"])
def test_a_condition_is_written_as_in_python(run: Any, demo: da.Sandbox, tmp_path: Path, source: str) -> None:
    text = "col('customer_id').matches(['a']) & (col('age').equals(17) | col('t').since('2024-01-15'))"
    file = tmp_path / "condition.txt"
    file.write_text(text + "\n", encoding="utf-8")
    given = {"text": text, "file": f"@{file}", "stdin": "@-"}[source]
    run("items", "customer", "--attrs", "customer_id", "--where", given, stdin=text.encode())
    assert [each["column"] for each in sent(demo)] == ["customer_id", "age"]
    expression = da.filters.parse(text)
    assert isinstance(expression, da.filters.Expression)
    # The demo has no such attributes.
    with da.Client() as client, pytest.raises(da.RequestRejectedError):
        client.search_items("customer", attrs=["customer_id"], where=expression)
    assert demo.requests[-1].body == demo.requests[-2].body


@pytest.mark.parametrize(
    ("condition", "data"),
    [
        ("on('2024-01-31')", r"--where: .* col\('opened'\)\.on\('2024-01-31'\)"),
        ("col('a').on('2024-01-31') | clo('b').on('2024-01-31')", "'--where': .* character 29: "),
        ("col('a').on(", "'--where': "),
        ("@latin1.txt", r"'--where': .*'latin1\.txt' .*UTF-8"),
        ("@none.txt", r"'--where': .*'none\.txt' "),
    ],
)
def test_a_condition_that_is_none_is_refused(
    run: Any, demo: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, condition: str, data: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin1.txt").write_bytes("col('Größe').equals(1)".encode("latin1"))
    before = len(demo.requests)
    ended = run("items", "customer", "--attrs", "customer_id", "--where", condition)
    assert (ended.code, ended.output, bool(re.search(data, ended.reported))) == (2, "", True), ended
    assert len(demo.requests) == before


@pytest.mark.parametrize("source", ["text", "file", "stdin"])
@pytest.mark.usefixtures("demo")
def test_filters_of_the_specification_are_taken(run: Any, tmp_path: Path, source: str) -> None:
    text = json.dumps(WHERE)
    file = tmp_path / "filter.json"
    file.write_text(text, encoding="utf-8")
    given = {"text": text, "file": f"@{file}", "stdin": "@-"}[source]
    ended = run("items", "customer", "--attrs", "customer_id", "--where", given, stdin=text.encode())
    assert ended.output == '{"customer_id":"demo-customer-0001"}\n'


def test_filters_of_codes_are_those_of_the_specification(run: Any, demo: da.Sandbox) -> None:
    body = json.loads(run("codes", *DAY, "--status", "used", "--explain", "--json").output)
    words = ("--attrs", "id", "--limit", "1")
    expected = run("codes", *DAY, "--status", "used", *words).output
    assert run("codes", "--where", json.dumps(body["filters"]), *words).output == expected
    assert sent(demo) == body["filters"]["OR"][0]["AND"]
    text = "col('allocated_time').on('2024-01-15') & col('code_status').matches(['used'])"
    assert run("codes", "--where", text, *words).output == expected


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


def test_a_run_that_fails_reports_as_json_too(run: Any, demo: da.Sandbox, tmp_path: Path) -> None:
    words = ["codes", "--days", "2024-01-14", "2024-01-17", "--folder", str(tmp_path / "codes"), "--json"]
    with demo.fault("status", status=400, after=1, times=1):
        ended = run(*words)
    assert ended.code != 0
    report = json.loads(ended.output)
    assert (len(report["files"]), report["new"]) == (2, 2)
    assert "1 of 3 " in report["error"]
    assert [(task[:8], "HTTP 400" in text) for task, text in report["failed"].items()] == [("2024-01-", True)]


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
def test_one_refresh_replaces_all_damaged_days(run: Any, tmp_path: Path) -> None:
    words = ("codes", "--days", "2024-01-14", "2024-01-18", "--folder", str(tmp_path), "--json")
    assert run(*words).code == 0
    days = ("2024-01-14", "2024-01-16")
    for day in days:
        (tmp_path / f"day={day}" / "part-0.parquet").write_bytes(b"damaged")
    ended = run(*words)
    assert (ended.code, [task[:10] for task in json.loads(ended.output)["failed"]]) == (65, list(days))
    report = json.loads(run(*words, "--refresh", days[0], "--refresh", days[1]).output)
    assert (report["exit_code"], report["new"] + report["refreshed"], report["kept"]) == (0, 2, 2)
    assert run(*words).code == 0


@pytest.mark.usefixtures("demo")
def test_a_terminal_is_told_what_was_written(run: Any, tmp_path: Path) -> None:
    file, folder = tmp_path / "a.parquet", tmp_path / "codes"
    assert re.fullmatch(
        rf"{file}: 73 rows, \d+\.\d kB in \d\.\d s\n",
        run("codes", *DAY, "-o", str(file), terminal=True).reported,
    )
    done = run("codes", *DAY, "--folder", str(folder), terminal=True)
    assert re.fullmatch(rf"{folder}: 73 rows in 1 file: 1 new, in \d\.\d s\n", done.reported)


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
def test_a_failure_leaves_the_old_file(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "wrong")
    file = tmp_path / "a.parquet"
    file.write_text("old", encoding="utf-8")
    assert run("codes", *DAY, "-o", str(file)).code == 77
    assert file.read_text(encoding="utf-8") == "old"
    assert len(list(tmp_path.iterdir())) == 1


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


@pytest.mark.usefixtures("demo")
def test_types_of_columns_can_be_given(run: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    words = ["--attrs", "customer_id,name", "--matches", "customer_id=demo-customer-0001", "--schema", "name=json"]
    assert run("items", "customer", *words, "-o", str(file)).code == 0
    assert pq.read_table(file).num_rows == 1


@pytest.mark.usefixtures("demo")
def test_doubt_is_a_line(run: Any) -> None:
    ended = run("codes", "--on", "2024-01-15", "--audience", "nobody", "--status", "available", keeps_warnings=True)
    assert (ended.code, ended.output) == (0, "")
    assert re.fullmatch(r"dataaccess: warning: .*\n", ended.reported)
