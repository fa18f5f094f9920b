"""The subcommands of `dataaccess sandbox` for data, tokens, exports, the clock, switches and the log."""

from __future__ import annotations

import json
import sys
import time
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli.parts import Command, Commands, option
from dataaccess.cli.sandbox.requests import EndedRequests, request_line
from dataaccess.cli.sandbox.running import controlling
from dataaccess.cli.values import Duration, List, Pair, SeedFile, TokenPath, Whole, flat, switch_value

if TYPE_CHECKING:
    from dataaccess.sandbox import Sandbox

# Between two looks at the log.
_POLL_SECONDS = 0.25
# Of a token issued without end.
_HOUR = 3_600.0
_DAY = 24 * _HOUR


@click.command("state", cls=Command)
@controlling
def state(sandbox: Sandbox) -> None:
    """Show address, clock, switches and objects, as JSON."""
    call = sandbox._control.call
    click.echo(json.dumps({**call("GET", "/state"), "objects": call("GET", "/objects")}, indent=2, ensure_ascii=False))


@click.command("reset", cls=Command)
@controlling
def reset(sandbox: Sandbox) -> None:
    """Put data, exports, faults, switches, clock and log back to the start. Tokens stay valid."""
    sandbox.reset()


@click.command("advance", cls=Command)
@option("--seconds", type=float, default=0, metavar="N", help="Seconds to move the clock forward.")
@option("--hours", type=float, default=0, metavar="N", help="Hours.")
@option("--days", type=float, default=0, metavar="N", help="Days.")
@controlling
def advance(sandbox: Sandbox, seconds: float, hours: float, days: float) -> None:
    """Move the clock forward: exports, tokens, statuses and today. Prints the new time."""
    if not (seconds or hours or days):
        raise click.UsageError("write --seconds, --hours or --days")
    body = {"advance": seconds + hours * _HOUR + days * _DAY}
    click.echo(sandbox._control.call("POST", "/clock", body)["now"])


@click.command("switch", cls=Command)
@click.argument("changes", nargs=-1, type=Pair("NAME=VALUE", "latency=0.5"), metavar="[NAME=VALUE]...")
@controlling
def switch(sandbox: Sandbox, changes: tuple[tuple[str, str], ...]) -> None:
    """Change switches, all or none, and show all of them as JSON."""
    call = sandbox._control.call
    given = {name: switch_value(text) for name, text in changes}
    shown = call("PATCH", "/switches", given) if given else call("GET", "/switches")
    click.echo(json.dumps(shown, indent=2, ensure_ascii=False))


@click.command("load", cls=Command)
@click.argument("files", nargs=-1, required=True, type=SeedFile(), metavar="[OBJECT=]FILE...")
@option("--replace", is_flag=True, help="A row replaces an earlier one with the same identifier.")
@controlling
def load(sandbox: Sandbox, files: tuple[tuple[str | None, str], ...], *, replace: bool) -> None:
    """Declare objects and load rows from files, as --seed does. Prints the number of rows."""
    click.echo(sum(sandbox.seed(path, name=name, replace=replace) for name, path in files))


@click.command("requests", cls=Command)
@option("--follow", is_flag=True, help="Go on with new requests until Ctrl-C.")
@option("--json", "as_json", is_flag=True, help="A line of JSON for each request, with headers and body.")
@controlling
def requests(sandbox: Sandbox, *, follow: bool, as_json: bool) -> None:
    """Show the requests whose response has ended, oldest first."""
    ended = EndedRequests(sandbox._control.call)
    while True:
        for request in ended():
            click.echo(json.dumps(request, ensure_ascii=False) if as_json else request_line(request))
        sys.stdout.flush()
        if not follow:
            return
        time.sleep(_POLL_SECONDS)


@click.group("token", cls=Commands)
def token() -> None:
    """Issue and revoke tokens."""


@token.command("issue", cls=Command)
@option("--scopes", type=List(), multiple=True, metavar="A,B", help="Scopes of the token. [all]")
@option("--expires-in", type=Duration(), metavar="DURATION", help="Time until it expires, by the sandbox's clock.")
@controlling
def issue(sandbox: Sandbox, scopes: list[list[str]], expires_in: float | None) -> None:
    """Issue a token and print it."""
    click.echo(sandbox.issue_token(flat(scopes) or None, expires_in=expires_in))


@token.command("revoke", cls=Command)
@option("--token-file", type=TokenPath(), metavar="FILE", help="File with the token. [standard input]")
@controlling
def revoke(sandbox: Sandbox, token_file: str | None) -> None:
    """Revoke a token. It is read from a file or from standard input, as every user can read arguments."""
    text = sys.stdin.readline().strip() if token_file is None else da.token_file(token_file)()
    if not text:
        raise click.UsageError("no token: write it to standard input, or give --token-file")
    sandbox.revoke(text)


@click.group("export", cls=Commands)
def export() -> None:
    """Start segment exports."""


@export.command("start", cls=Command)
@option("--id", "export_id", type=Whole(min=0), metavar="ID", help="Its id. [a free one]")
@option("--rows", type=Whole(min=0), default=1000, metavar="N", help="Rows of each entry. [1000]")
@option("--seconds", type=Duration(), default=1.0, metavar="DURATION", help="Time until the last entry ends. [1s]")
@option("--delay", type=Duration(), default=0.0, metavar="DURATION", help="Time until there are entries. [0s]")
@option("--entries", type=Whole(0, 1000), default=1, metavar="N", help="Number of entries. [1]")
@option("--fails", is_flag=True, help="The entries fail.")
@controlling
def start(
    sandbox: Sandbox, export_id: int | None, rows: int, seconds: float, delay: float, entries: int, *, fails: bool
) -> None:
    """Start a segment export and print its id. Its stages follow the sandbox's clock."""
    plan: dict[str, Any] = {"rows": rows, "seconds": seconds, "delay": delay, "entries": entries}
    click.echo(sandbox.start_export(export_id=export_id, succeeds=not fails, **plan))


COMMANDS = (state, requests, advance, load, token, export, switch, reset)
