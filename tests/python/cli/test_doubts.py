"""`--strict`, `--fail-empty`, relative days, and advice that fits the command."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import always, serving
from support.streams import response_of

import dataaccess as da

DAY = ("--on", "2024-01-15")
STORES = ("items", "store", "--item-type-id", "7", "--attrs", "id")


def row(name: str, day: str = "2024-01-01") -> dict[str, Any]:
    return {"id": name, "allocated_time": f"{day} 09:00:00"}


@pytest.fixture
def strange(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A service that returns a row of another day for the first one, and none for the next ones."""
    with da.Sandbox(switches={"day_zone": "Asia/Tokyo"}) as service:
        service.load("promotion_code", [row("a"), {"id": "late", "allocated_time": "2023-12-31 16:00:00"}])
        monkeypatch.setenv("DATAACCESS_BASE_URL", service.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", service.issue_token())
        yield service


STRANGE = ("codes", "--on", "2024-01-01", "--attrs", "id,allocated_time")


@pytest.mark.usefixtures("strange")
@pytest.mark.parametrize("form", ["--json", "terminal"])
def test_strict_prints_nothing_that_looks_wrong(run: Any, form: str) -> None:
    words = () if form == "terminal" else form.split()
    assert run(*STRANGE, *words, terminal=form == "terminal").code == 0
    ended = run(*STRANGE, *words, "--strict", terminal=form == "terminal")
    assert (ended.code, "late" in ended.output) == (65, False)
    assert re.fullmatch("dataaccess: .* allocated_time 2023-12-31 16:00:00 .*\n", ended.reported)


@pytest.mark.usefixtures("strange")
@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize(
    ("option", "day", "datum"),
    [("--strict", "2024-01-01", " 2023-12-31 16:00:00 "), ("--fail-empty", "2024-01-09", "dataaccess: ")],
)
def test_a_file_stays_as_it_is(run: Any, tmp_path: Path, suffix: str, option: str, day: str, datum: str) -> None:
    file = tmp_path / f"codes.{suffix}"
    file.write_bytes(b"before")
    words = ("codes", "--on", day, "--attrs", "id,allocated_time", "-o", str(file))
    ended = run(*words, option)
    assert (ended.code, file.read_bytes()) == (65, b"before"), ended
    assert datum in ended.reported
    assert list(tmp_path.iterdir()) == [file]
    assert run(*words).code == 0
    assert file.read_bytes() != b"before"


@pytest.mark.parametrize("target", ["-o", "--folder"])
def test_strings_with_other_values_look_wrong_in_a_file_as_in_a_folder(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, target: str
) -> None:
    with serving(always(response_of([{"id": "a"}, {"id": 5}]))) as server:
        monkeypatch.setenv("DATAACCESS_BASE_URL", server.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
        ended = run(*STORES, target, str(tmp_path / "stores.csv"), "--strict")
        assert (ended.code, (tmp_path / "stores.csv").is_file()) == (65, False)
        assert run(*STORES, target, str(tmp_path / "accepted.csv")).code == 0


@pytest.mark.usefixtures("strange")
def test_a_folder_keeps_its_files(run: Any, tmp_path: Path) -> None:
    words = ("codes", "--days", "2024-01-01", "2024-01-03", "--attrs", "id,allocated_time", "--folder")
    ended = run(*words, str(tmp_path / "strict"), "--strict")
    assert ended.code == 65
    assert re.search(r"\b1 of 2 .* \(2024-01-01\)", ended.reported)
    assert [path.name for path in (tmp_path / "strict").glob("day=*")] == ["day=2024-01-02"]
    assert run(*words, str(tmp_path / "strict")).code == 0
    ended = run("status", str(tmp_path / "strict"), "--strict")
    assert (ended.code, json.loads(ended.output)["doubtful_days"]) == (65, ["2024-01-01"])
    empty = ("codes", "--days", "2024-01-05", "2024-01-07", "--folder", str(tmp_path / "empty"))
    for options in (["--fail-empty"], ["--fail-empty", "--strict"]):
        ended = run(*empty, *options, "--json")
        report = json.loads(ended.output)
        assert (ended.code, report["exit_code"], report["rows"]) == (65, 65, 0)
        assert "on_doubt" in report["error"]
        assert list((tmp_path / "empty").glob("day=*")) == []
    # A file without rows that is there already.
    assert run(*empty).code == 0
    ended = run(*empty, "--fail-empty", "--json")
    report = json.loads(ended.output)
    assert (ended.code, report["exit_code"], str(tmp_path / "empty") in ended.reported) == (65, 65, True)
    ended = run(*words, str(tmp_path / "both"), "--strict", "--fail-empty")
    assert (ended.code, list((tmp_path / "both").glob("day=*"))) == (65, [])


def test_files_that_look_capped_only_together_stay_and_are_doubtful(
    run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with da.Sandbox.demo(until="2024-02-29", switches={"maximum_rows": 30}) as service:
        monkeypatch.setenv("DATAACCESS_BASE_URL", service.base_url)
        monkeypatch.setenv("DATAACCESS_TOKEN", service.issue_token())
        for options in (["--strict"], ["--strict", "--fail-empty"]):
            folder = tmp_path / options[-1]
            ended = run("codes", "--days", "2024-01-01", "2024-01-09", "--folder", str(folder), *options)
            assert (ended.code, len(list(folder.glob("day=*")))) == (65, 8), ended


def test_days_may_be_relative_in_the_zone(run: Any, now: Any) -> None:
    # On Kiritimati it is the 1st of March already.
    now("2024-02-29T12:00+00:00")
    words = ("--timezone", "Pacific/Kiritimati", "--explain", "--json")
    days = [run("codes", "--on", day, *words) for day in ("2024-02-27", "2024-02-28", "2024-02-29")]
    relative = (["--on", "yesterday"], ["--days", "yesterday", "today"], ["--where", "yesterday()"], ["--last", "1"])
    for options in relative:
        assert run("codes", *options, *words) == days[2]
    assert run("codes", "--last", "3", *words).output == "".join(day.output for day in days)
    items = [run(*STORES, "--where", f"col('opened').on({day})", *words) for day in ("'2024-02-29'", "yesterday()")]
    assert (items[0].code, items[1]) == (0, items[0])


def test_exit_codes_are_in_the_help(run: Any) -> None:
    page = (Path(__file__).parents[3] / "docs" / "command-line.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| (\d+) \|", page, re.MULTILINE))
    text = run("--help").output
    assert {code for code in listed if not re.search(rf"\b{code}\b", text)} == set()
