"""`dataaccess sandbox fault`: the faults of a sandbox that runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from dataaccess.cli.parts import Command, Commands, option
from dataaccess.cli.sandbox.running import controlling
from dataaccess.cli.values import Whole, json_or_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dataaccess.sandbox import Sandbox

_EPILOG = """\b
Examples:
  dataaccess sandbox fault add status status=503 times=2
  dataaccess sandbox fault add cut after_bytes=100 where.day=2024-01-15
  dataaccess sandbox fault add --preset flaky
  dataaccess sandbox fault end 3
"""


@click.group("fault", cls=Commands, epilog=_EPILOG)
def command() -> None:
    """Add, list and end faults."""


@command.command("add", cls=Command, epilog=_EPILOG)
@click.argument("words", nargs=-1, metavar="[KIND] [NAME=VALUE]...")
@option("--preset", metavar="NAME", help="Several faults by one name, such as flaky, in place of a kind.")
@controlling
def add(sandbox: Sandbox, words: tuple[str, ...], preset: str | None) -> None:
    """Add a fault of a kind, such as status, reset, cut or delay.

    NAME=VALUE are its options; a value is JSON or a string, and where.day=VALUE is a member of where. The page on the
    sandbox lists kinds and options. The fault is printed with its id, and stays until it is ended.
    """
    kinds, options = [word for word in words if "=" not in word], _options(word for word in words if "=" in word)
    if len(kinds) != (preset is None):
        raise click.UsageError("write one kind, such as status, or --preset NAME, and options as NAME=VALUE")
    named = {"kind": kinds[0]} if preset is None else {"preset": preset}
    made = sandbox._control.call("POST", "/faults", {**named, **options})
    _print(made if isinstance(made, list) else [made])


@command.command("list", cls=Command)
@controlling
def show(sandbox: Sandbox) -> None:
    """List the faults, each as a line of JSON with its id and its hits."""
    _print(sandbox._control.call("GET", "/faults"))


@command.command("end", cls=Command)
@click.argument("fault_id", required=False, type=Whole(min=0), metavar="[ID]")
@option("--all", "is_all", is_flag=True, help="End all faults.")
@controlling
def end(sandbox: Sandbox, fault_id: int | None, *, is_all: bool) -> None:
    """End a fault by the id that add and list print, or all of them."""
    if (fault_id is None) == (not is_all):
        raise click.UsageError("write the id of a fault, or --all")
    path = "/faults" if fault_id is None else f"/faults/{fault_id}"
    sandbox._control.call("DELETE", path)


def _options(words: Iterable[str]) -> dict[str, Any]:
    options: dict[str, Any] = {}
    for word in words:
        path, _, text = word.partition("=")
        name, _, member = path.partition(".")
        members = options.setdefault(name, {}) if member else options
        key = member or name
        if not isinstance(members, dict) or key in members:
            raise click.UsageError(f"{path} is given twice")
        members[key] = json_or_text(text)
    return options


def _print(faults: list[dict[str, Any]]) -> None:
    for fault in faults:
        click.echo(json.dumps(fault, ensure_ascii=False))
