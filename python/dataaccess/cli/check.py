"""`dataaccess check`: what a client would use, what the service says to it, and the settings that are right there."""

from __future__ import annotations

import platform
from textwrap import indent
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess._client.profiles import config_path
from dataaccess.cli import output
from dataaccess.cli.ending import reported
from dataaccess.cli.options import Command, Connect, connecting, option
from dataaccess.cli.values import Whole

if TYPE_CHECKING:
    from dataaccess import ClientCheck

_EXAMPLES = """\
check
check --profile staging --day 2024-01-15 --export 5637051
"""

# A setting is not right for the service: no error of a request.
_WRONG_SETTING = 1
# Always shown, though they are the default.
_SHOWN = ("base_url", "token", "profile", "timezone", "source_timezone", "day_comparison", "proxy", "ca_bundle")


@click.command("check", cls=Command, epilog=_EXAMPLES)
@option("--day", "DAY", "A day that has many codes: they show which settings are right.")
@option("--export export_id", "ID", "A segment export that has ended.", type=Whole())
@connecting()
@click.pass_context
def command(context: click.Context, day: str | None, export_id: int | None, connect: Connect) -> None:
    """Check configuration, connection and token, and find the settings.

    Shows each setting with where it came from, and what at most 20 requests find out, which only read. With --day they
    find which settings are right for the service, and they are printed to paste. The token is shown nowhere.

    The exit code is 0 if one of the first two requests works: a token may have one scope alone. Otherwise the error
    decides: 78 configuration, 69 or 75 connection, 77 token; 1 if only a setting is wrong for the service.
    """
    with reported():
        client = connect()
        check = client.check(day, export_id)
    code = 0 if check.is_ok else _WRONG_SETTING
    if check.answers["token"].is_right is not True:
        code = next((error.exit_code for error in check.errors.values()), code)
    configuration = {
        name: {"value": one.value, "source": "option" if one.source == "argument" else one.source}
        for name, one in client.settings.items()
    }
    if output.wants("json"):
        report = {"versions": _versions(), "configuration": configuration, **check.to_dict()}
        output.write_json({**report, "exit_code": code})
    else:
        _show(configuration, check)
    context.exit(code)


def _versions() -> str:
    return f"dataaccess {da.__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"


def _show(configuration: dict[str, dict[str, Any]], check: ClientCheck) -> None:
    shown = {name: one for name, one in configuration.items() if name in _SHOWN or one["source"] != "default"}
    values = {name: "none" if one["value"] is None else str(one["value"]) for name, one in shown.items()}
    width, size = max(map(len, values)), max(map(len, values.values()))
    click.echo(f"{_versions()}\n\n{click.style('Configuration', bold=True)}")
    for name, one in shown.items():
        source = click.style(one["source"], dim=one["source"] == "default" or None)
        click.echo(f"  {name:{width}}  {values[name]:{size}}  {source}")
    click.echo(click.style(f"  {len(configuration) - len(shown)} others are the defaults", dim=True))
    click.echo(f"\n{click.style('Service', bold=True)}")
    click.echo(indent(str(check), "  "))
    if check.settings:
        title = f"Settings of this service, for [profiles.NAME] in {config_path()}"
        click.echo(f"\n{click.style(title, bold=True)}")
        click.echo(check.to_toml(), nl=False)
        click.echo(f"\n{click.style('The same in Python', bold=True)}\n{check.to_code()}")
