"""`dataaccess check`: what a client would use, what the service says to it, and the settings that are right there."""

from __future__ import annotations

import platform
from datetime import date
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli import options, output
from dataaccess.cli.ending import as_dict, message_of
from dataaccess.cli.parts import Command, option
from dataaccess.cli.streams import style
from dataaccess.cli.values import Whole

if TYPE_CHECKING:
    from dataaccess import Client
    from dataaccess._client.check import ClientCheck
    from dataaccess._probe.findings import ProbeReport
    from dataaccess.cli.options import Connection

_EPILOG = """\b
Examples:
  dataaccess check
  dataaccess check --profile staging --day 2024-01-15 --export 5637051
  dataaccess check --day 2024-01-15 --json > platform.json   # of a sandbox
"""

# A setting is not right for the service: no error of a request.
_WRONG_SETTING = 1
# Always shown, though they are the default.
_SHOWN = ("base_url", "token", "profile", "timezone", "source_timezone", "day_comparison", "proxy", "ca_bundle")
_CHECKED = (
    *("base_url", "is_sandbox", "is_reachable", "token_source", "scopes", "timezone", "day", "is_day_right"),
    *("day_comparison", "comparison", "is_comparison_right", "seconds"),
)


@click.command("check", cls=Command, epilog=_EPILOG)
@option("--day", "DAY", "A day that has many codes: they show which settings are right.")
@option("--export export_id", "ID", "A segment export that has ended; with --day.", type=Whole())
@options.connecting()
@click.pass_context
def command(
    context: click.Context, day: str | None, export_id: int | None, connection: Connection, *, as_json: bool
) -> None:
    """Check configuration, connection and token, and find the settings.

    Shows each setting with where it came from, and what two requests find out of the token and its scopes. With --day,
    more requests find out which settings are right for the service, and they are printed as TOML. All requests only
    read. The token is shown nowhere.

    The exit code is 0 if one of the first two requests works: a token may have one scope alone. Else it is that of the
    error: 78 configuration, 69 or 75 connection, 77 token; 1 if only a setting is wrong for the service.
    """
    if export_id is not None and day is None:
        raise click.UsageError("--export is looked at with --day: add a day that has many codes")
    with output.reported(as_json=as_json):
        client = connection.client()
        with output.retries_shown():
            check = client.check(day)
            found = _found(client, day, export_id) if day is not None and check.scopes["item"] else None
    code = _code(check)
    if as_json:
        output.write_json(_report(client, check, found, code))
    else:
        _show(client, check, found)
    context.exit(code)


def _found(client: Client, day: str, export_id: int | None) -> ProbeReport:
    from dataaccess._probe.probe import probe  # loads the core

    return probe(client, date.fromisoformat(day[:10]), export_id=export_id)


def _code(check: ClientCheck) -> int:
    if check.is_ok:
        return 0
    return next((error.exit_code for error in check.errors.values()), _WRONG_SETTING)


def _versions() -> str:
    return f"dataaccess {da.__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"


def _settings(client: Client) -> dict[str, dict[str, Any]]:
    return {
        name: {"value": one.value, "source": "option" if one.source == "argument" else one.source}
        for name, one in client.settings.items()
    }


def _report(client: Client, check: ClientCheck, found: ProbeReport | None, code: int) -> dict[str, Any]:
    return {
        **as_dict({"ok": check.is_ok, "versions": _versions(), "settings": _settings(client)}),
        **{name: getattr(check, name) for name in _CHECKED},
        "errors": {name: message_of(error) for name, error in check.errors.items()},
        **({} if found is None else {name: found.to_dict()[name] for name in ("switches", "client", "findings")}),
        "exit_code": code,
    }


def _show(client: Client, check: ClientCheck, found: ProbeReport | None) -> None:
    settings = _settings(client)
    shown = {name: one for name, one in settings.items() if name in _SHOWN or one["source"] != "default"}
    values = {name: "none" if one["value"] is None else str(one["value"]) for name, one in shown.items()}
    width, size = max(map(len, values)), max(map(len, values.values()))
    click.echo(f"{_versions()}\n\n{style('Configuration', bold=True)}")
    for name, one in shown.items():
        click.echo(f"  {name:{width}}  {values[name]:{size}}  {style(one['source'], dim=one['source'] == 'default')}")
    click.echo(style(f"  {len(settings) - len(shown)} others are the defaults", dim=True))
    click.echo(f"\n{style('Service', bold=True)}")
    for line in str(check).splitlines():
        click.echo(f"  {line}")
    if found is not None:
        click.echo(f"\n{style('Settings of this service, for a profile', bold=True)}")
        click.echo("\n".join(found.profile_lines()))
