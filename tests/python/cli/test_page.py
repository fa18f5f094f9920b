"""docs/command-line.md: its commands print what it shows, and its tables are those of the command."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from support.pages import ROOT, table

import dataaccess as da
from dataaccess.cli.application import COMMANDS

PAGE = ROOT / "docs" / "command-line.md"
TEXT = PAGE.read_text(encoding="utf-8")


def sessions() -> list[Any]:
    """The blocks of commands with their output, by the heading above them."""
    found: list[Any] = []
    for block in re.finditer(r"^```console\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        heading = re.findall(r"^##? (.+)$", TEXT[: block.start()], re.MULTILINE)[-1]
        found.append(pytest.param(block[1], id=f"{heading}-{len(found)}"))
    return found


@pytest.mark.parametrize("session", sessions())
def test_each_command_of_the_page_prints_what_it_shows(
    run: Any, session: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    monkeypatch.setenv("NO_COLOR", "1")
    for command, expected in re.findall(r"^\$ dataaccess (.+)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE):
        ended = run(*shlex.split(command), terminal=True)
        # A terminal shows both; `…` stands for what differs each time.
        pattern = re.escape(expected).replace("…", ".*")
        assert re.fullmatch(pattern, ended.output + ended.reported), (command, ended)


def test_every_command_is_in_the_table() -> None:
    named = re.findall("`dataaccess ([a-z]+)", "\n".join(row[0] for row in table(PAGE, "## Commands")))
    assert sorted(named) == sorted(COMMANDS)


def test_the_exit_codes_are_those_of_errors() -> None:
    own = {int(row[0]) for row in table(PAGE, "## Exit codes")}
    errors = {int(row[0]) for row in table(ROOT / "docs" / "errors.md", "## Exit codes")}
    assert own - errors == {0, 1, 2, 130, 141, 143}
    assert errors - own == set()
    classes = [kind for kind in vars(da.errors).values() if isinstance(kind, type)]
    assert errors == {kind().exit_code for kind in classes if issubclass(kind, da.DataAccessError)}
