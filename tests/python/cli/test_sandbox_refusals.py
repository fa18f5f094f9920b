"""`dataaccess sandbox`: files and options that it refuses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.commands import RunHere


def test_a_file_that_is_no_store_is_refused(run_here: RunHere, tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, but long enough to be read as one\n" * 100, encoding="utf-8")
    code, output, reported = run_here("sandbox", "--db", str(file))
    assert (code, output) == (69, "")
    assert reported.startswith("dataaccess: ")
    assert reported.count("\n") == 1


@pytest.mark.parametrize("port", ["65536", "-1", "http", "8 0", ""])
def test_a_port_that_is_none_is_refused(run_here: RunHere, port: str) -> None:
    code, output, reported = run_here("sandbox", f"--port={port}")
    assert (code, output) == (2, "")
    assert "'--port'" in reported
    assert reported.count("\n") == 1


@pytest.mark.parametrize("words", [("--demo", "--empty"), ("--demo", "--db", "x.db"), ("--empty", "--replay", "x")])
def test_the_data_is_one_of(
    run_here: RunHere, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_here("sandbox", *words)[0] == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "data"),
    [
        (["--scopes", "itme"], 2, "^dataaccess: --scopes: .*`itme`.* item, download\n"),
        (["--switch", "latnecy=1"], 2, "^dataaccess: --switch: .*`latnecy`.* latency\\?\n"),
        (["--switch", "maximum_rows=[1]"], 2, r"--switch: maximum_rows: \[1\] "),
        (["--switch", "latency"], 2, "'--switch': 'latency' .*NAME=VALUE"),
        (["--platform", "/nowhere/platform.json"], 2, r"--platform: .* /nowhere/platform\.json: "),
        (["--replay", "/nowhere/exchanges", "--platform", "all-utc"], 2, "--replay .*--port, --json .*--quiet"),
        (["--token-file", "/nowhere/token"], 2, "'--token-file': .* /nowhere/… "),
        (["--replay", "/nowhere/exchanges"], 69, "`/nowhere/exchanges` "),
        (["--replay", "/nowhere/exchanges", "--switch", "latency=1"], 2, "--replay .*--port, --json .*--quiet"),
        (["--token-file", __file__, "--scopes", "item"], 2, "--scopes .*--token-file"),
    ],
    ids=str,
)
def test_options_that_cannot_be_are_reported(run_here: RunHere, words: list[str], code: int, data: str) -> None:
    found, output, printed = run_here("sandbox", *words)
    assert (found, output) == (code, "")
    assert re.search(data, printed), printed
