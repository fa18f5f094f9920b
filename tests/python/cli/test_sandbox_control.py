"""The subcommands of `dataaccess sandbox`, which control a sandbox in another process."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import MODULE, Served, serving

import dataaccess as da

ADMIN = "DATAACCESS_SANDBOX_ADMIN_TOKEN"
DAY = da.on("2024-01-15")
# Five codes of the day, and one export.
DATA = {
    "now": "2024-03-01T02:00:00Z",
    "seeds": [
        {
            "object": "promotion_code",
            "rows": [
                {"id": f"code-{number}", "code_status": 4, "allocated_time": f"2024-01-15 0{number}:00:00"}
                for number in range(5)
            ],
        }
    ],
    "exports": [{"export_id": 5637051, "seconds": 0}],
}


def scenario(folder: Path) -> str:
    path = folder / "night.json"
    path.write_text(json.dumps(DATA), encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def _served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving("--scenario", scenario(tmp_path_factory.mktemp("served"))) as served:
        yield served


@pytest.fixture
def served(_served: Served, monkeypatch: pytest.MonkeyPatch) -> Served:
    """A sandbox that the environment names, as at its start."""
    for name, value in _served.exports.items():
        monkeypatch.setenv(name, value)
    with da.Sandbox.connect(_served.exports["DATAACCESS_BASE_URL"], _served.exports[ADMIN]) as sandbox:
        sandbox.reset()
    return _served


def lines(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


def test_a_fault_is_added_listed_and_ended(served: Served, run: Any) -> None:
    added = run("sandbox", "fault", "add", "status", "status=418", "path=search", "times=5")
    assert (added.code, added.reported) == (0, "")
    (fault,) = lines(added.output)
    assert (fault["kind"], fault["status"], fault["hits"]) == ("status", 418, 0)
    with pytest.raises(da.ApiError):
        served.client().search_codes(allocated_time=DAY)
    assert [one["hits"] for one in lines(run("sandbox", "fault", "list").output)] == [1]
    assert run("sandbox", "fault", "end", str(fault["id"])).code == 0
    assert run("sandbox", "fault", "list").output == ""
    assert served.client().search_codes(["id"], allocated_time=DAY, limit=1)


def test_a_fault_has_options_in_json_and_all_are_ended(served: Served, run: Any) -> None:
    words = ["delay", "seconds=0.001", 'where={"day": "2024-01-15"}']
    (fault,) = lines(run("sandbox", "fault", "add", *words).output)
    assert fault["where"] == {"day": "2024-01-15"}
    assert len(lines(run("sandbox", "fault", "add", "--preset", "flaky").output)) >= 1
    assert run("sandbox", "fault", "end", "--all").code == 0
    assert run("sandbox", "fault", "list").output == ""
    assert served.exports


@pytest.mark.parametrize(
    ("words", "code", "data"),
    [
        (["fault", "add"], 2, "--preset NAME"),
        (["fault", "add", "--preset", "flaky", "cut"], 2, "--preset NAME"),
        (["fault", "add", "status", "status"], 2, "NAME=VALUE"),
        (["fault", "add", "status", "status=503", "status=500"], 2, "^dataaccess: status "),
        (["fault", "add", "cut", "where.day=1", "where.day=2"], 2, r"^dataaccess: where\.day "),
        (["fault", "add", "cut", "where=1", "where.day=2"], 2, r"^dataaccess: where\.day "),
        (["fault", "add", "status", "status=503", "tmies=2"], 2, "`status` .* tmies$"),
        (["fault", "end"], 2, "--all .*fault end --help"),
        (["fault", "end", "4711"], 69, "4711"),
        (["fualt", "add"], 2, "'fualt'.*'fault'\\?"),
        (["advance"], 2, "--seconds, --hours or --days"),
        (["advance", "--hours", "-1"], 2, "-3600"),
        (["token", "issue", "--scopes", "itme"], 2, "itme"),
        (["switch", "latnecy=1"], 69, "latnecy"),
        (["load", "/nowhere/shop.json"], 2, r"/nowhere/shop\.json "),
        (["--port", "80", "state"], 2, "^dataaccess: --port .* state "),
    ],
    ids=str,
)
def test_what_is_wrong_is_one_line(served: Served, run: Any, words: list[str], code: int, data: str) -> None:
    assert served.exports
    ended = run("sandbox", *words)
    assert (ended.code, ended.output) == (code, "")
    assert re.search(data, ended.reported), ended.reported
    assert ended.reported.count("\n") == 1


def test_the_clock_and_an_export(served: Served, run: Any) -> None:
    before = json.loads(run("sandbox", "state").output)["now"]
    export = int(run("sandbox", "export", "start", "--rows", "500", "--seconds", "1h", "--id", "42").output)
    assert export == 42
    entries = served.client().download_segment(42)["entries"]
    assert entries[0]["exportedRows"] is None
    after = run("sandbox", "advance", "--hours", "1").output.strip()
    assert after > before
    assert served.client().download_segment(42)["entries"][0]["exportedRows"] == 500


def test_a_token_is_issued_and_revoked_by_standard_input(served: Served, run: Any, tmp_path: Path) -> None:
    base_url = served.exports["DATAACCESS_BASE_URL"]
    file = tmp_path / "token"
    for words, stdin in ((["--token-file", str(file)], False), ([], True)):
        token = run("sandbox", "token", "issue", "--scopes", "download", "--expires-in", "1h").output.strip()
        client = da.Client(base_url, token=token)
        assert client.download_segment(5637051)["code"] == 200
        file.write_text(token, encoding="utf-8")
        file.chmod(0o600)
        ended = run("sandbox", "token", "revoke", *words, stdin=f"{token}\n".encode() if stdin else b"")
        assert (ended.code, ended.output, ended.reported) == (0, "", "")
        with pytest.raises(da.PermissionDeniedError):
            client.download_segment(5637051)
    assert run("sandbox", "token", "revoke").code == 2


def test_rows_are_loaded_and_reset(served: Served, run: Any, tmp_path: Path) -> None:
    file = tmp_path / "customers.csv"
    file.write_text("customer_id\nmine\n", encoding="utf-8")
    assert run("sandbox", "load", f"customer={file}").output == "1\n"
    found = da.col("customer_id").equals("mine")
    assert served.client().search_items("customer", ["customer_id"], found)
    assert run("sandbox", "load", f"customer={file}").code == 69
    assert run("sandbox", "load", f"customer={file}", "--replace").output == "1\n"
    assert run("sandbox", "reset").code == 0
    assert served.client().search_items("customer", ["customer_id"], found) == []


def test_switches_are_shown_and_changed(served: Served, run: Any) -> None:
    assert json.loads(run("sandbox", "switch").output)["maximum_rows"] is None
    changed = json.loads(run("sandbox", "switch", "maximum_rows=2", "day_zone=Asia/Tokyo").output)
    assert (changed["maximum_rows"], changed["day_zone"]) == (2, "Asia/Tokyo")
    assert len(served.client().search_codes(["id"], allocated_time=DAY)) == 2
    assert json.loads(run("sandbox", "switch", "maximum_rows=none").output)["maximum_rows"] is None


def test_requests_are_shown_in_lines_and_as_json(served: Served, run: Any) -> None:
    served.client().search_codes(["id"], allocated_time=DAY, code_status="used")
    served.client().download_segment(5637051)
    first, second = run("sandbox", "requests").output.splitlines()
    assert first.startswith(
        "POST /access/api/item/search promotion_code, code_status matches [1], allocated_time equals 2024-01-15 -> 200 "
    )
    assert first.endswith(" ms")
    assert second.startswith("POST /access/api/segment/download export 5637051 -> 200 ")
    shown = lines(run("sandbox", "requests", "--json").output)
    assert [json.loads(request["body"])["attrs"] for request in shown[:1]] == [["id"]]


def test_requests_are_followed_as_they_come(served: Served) -> None:
    served.client().download_segment(5637051)
    follow = subprocess.Popen([*MODULE, "sandbox", "requests", "--follow"], stdout=subprocess.PIPE, encoding="utf-8")
    with follow:
        assert follow.stdout
        assert "export 5637051" in follow.stdout.readline()
        served.client().search_codes(["id"], allocated_time=DAY)
        assert "promotion_code" in follow.stdout.readline()
        follow.terminate()


def test_address_and_token_are_needed_and_the_token_is_no_argument(
    run: Any, served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "admin"
    file.write_text(served.exports[ADMIN], encoding="utf-8")
    file.chmod(0o600)
    base_url = served.exports["DATAACCESS_BASE_URL"]
    monkeypatch.delenv("DATAACCESS_BASE_URL")
    ended = run("sandbox", "state")
    assert (ended.code, bool(re.search("--url, .*DATAACCESS_BASE_URL", ended.reported))) == (2, True)
    monkeypatch.delenv(ADMIN)
    ended = run("sandbox", "state", "--url", base_url)
    assert (ended.code, bool(re.search(f"--admin-token-file, .*{ADMIN}", ended.reported))) == (2, True)
    assert run("sandbox", "state", "--url", base_url, "--admin-token-file", str(file)).code == 0
    assert run("sandbox", "state", "--url", base_url, "--admin-token", served.exports[ADMIN]).code == 2


def test_a_data_token_controls_nothing_and_a_sandbox_that_ended_is_reported(
    run: Any, served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADMIN, served.exports["DATAACCESS_TOKEN"])
    ended = run("sandbox", "state")
    assert (ended.code, ended.output) != (0, "")
    assert served.exports["DATAACCESS_TOKEN"] not in ended.reported
    assert run("sandbox", "state", "--url", "http://127.0.0.1:9").code != 0


def test_the_story_of_a_team(tmp_path: Path) -> None:
    """A job of yesterday in one process, its sandbox in another: a fault by content, an hour, and the log."""
    with serving("--scenario", scenario(tmp_path), "--quiet") as served:
        environment = {**served.exports, "PATH": ""}

        def command(*words: str) -> str:
            return subprocess.run(
                [sys.executable, "-m", "dataaccess", *words],
                env=environment,
                capture_output=True,
                encoding="utf-8",
                check=True,
            ).stdout

        where = "where.day=2024-01-15"
        command("sandbox", "fault", "add", "status", "status=503", "retry_after=0", "times=1", where)
        command("sandbox", "export", "start", "--id", "7", "--seconds", "1h")
        codes = command("codes", "--on", "2024-01-15", "--attrs", "id", "--json").splitlines()
        assert len(codes) == 5
        command("sandbox", "advance", "--hours", "1")
        assert json.loads(command("segment", "7", "--json"))["entries"][0]["exportedRows"] == 1000
        log = command("sandbox", "requests").splitlines()
        assert [line.split(" -> ")[1][:3] for line in log] == ["503", "200", "200"]
        assert "fault" in log[0]
        assert served.stop()[1].count("POST") == 2  # the two operations that are announced
