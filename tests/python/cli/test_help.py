"""The help: every command has one, no option takes a secret, and the list loads no module of a command."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import click
import pytest

from dataaccess.cli.application import COMMANDS, application

COMMANDS_AND_GROUPS = [[], *([name] for name in COMMANDS)]


def command_of(*words: str) -> click.Command:
    """The command of one word, or the group."""
    made = application.get_command(click.Context(application), *words) if words else application
    assert made is not None
    assert isinstance(made, click.Group) == (not words)
    return made


@pytest.mark.parametrize("words", COMMANDS_AND_GROUPS, ids=lambda words: "-".join(["dataaccess", *words]))
def test_every_command_has_help_under_both_spellings(run: Any, words: list[str]) -> None:
    ended = run(*words, "--help")
    assert (ended.code, ended.reported) == (0, "")
    assert ended.output.startswith("Usage: ")
    assert run(*words, "-h").output == ended.output


@pytest.mark.parametrize("words", COMMANDS_AND_GROUPS, ids=lambda words: "-".join(["dataaccess", *words]))
def test_no_option_takes_a_secret_which_every_user_of_the_machine_could_read(words: list[str]) -> None:
    names = {name for each in command_of(*words).params for name in each.opts}
    secrets = {name for name in names if any(part in name for part in ("token", "secret", "password", "key", "header"))}
    assert all(name.endswith("-file") for name in secrets)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_has_the_first_line_of_each_command(name: str) -> None:
    command = command_of(name)
    assert (command.help or "").partition("\n")[0] == COMMANDS[name]
    assert [one for one in command.params if isinstance(one, click.Option) and not one.help] == []


@pytest.mark.parametrize(
    ("words", "loaded"),
    [
        (["--help"], {"ending", "application", "output"}),
        (["codes", "--help"], {"ending", "application", "codes", "options", "output", "rows", "values"}),
    ],
    ids=["list", "codes"],
)
def test_help_loads_neither_the_core_nor_other_commands(words: list[str], loaded: set[str]) -> None:
    code = "import sys; from dataaccess.cli import main; main(sys.argv[1:]); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, check=True, text=True)
    modules = done.stdout.splitlines()[-1].split()
    prefix = "dataaccess.cli."
    assert {name.removeprefix(prefix) for name in modules if name.startswith(prefix)} == loaded
    assert {name for name in modules if name.startswith("dataaccess._client.")} <= {"dataaccess._client.settings"}
    heavy = {"dataaccess._native", "pandas", "polars", "pyarrow", "tqdm", "difflib", "asyncio"}
    assert heavy & set(modules) == set()


def test_no_command_shows_the_list_and_is_an_error(run: Any) -> None:
    ended = run()
    assert (ended.code, ended.output) == (2, "")
    assert "Commands:" in ended.reported


@pytest.mark.parametrize("words", COMMANDS_AND_GROUPS, ids=lambda words: "-".join(["dataaccess", *words]))
def test_the_help_fits_one_screen(run: Any, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    for columns, most in ((100, 40), (80, 50)):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = run(*words, "--help").output.splitlines()
        assert len(lines) <= most, columns
    assert any("--json" in line and "--quiet" in line for line in lines) == bool(words)
