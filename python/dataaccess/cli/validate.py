"""`dataaccess validate`: the request of a search, which is not sent."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from dataaccess._client.settings import SETTINGS
from dataaccess.cli import conditions, output
from dataaccess.cli.parts import Commands, option

if TYPE_CHECKING:
    from dataaccess.cli.conditions import Search

_EPILOG = """\b
Examples:
  dataaccess validate codes --on 2024-01-15 --status used
  dataaccess validate items customer --attrs name --filter @filter.json
"""

_TIMEZONE = option(
    "--timezone", metavar="ZONE", default="UTC", help="Zone of days: an IANA name. The profile is not read. [UTC]"
)
_DAY_COMPARISON = option(
    "--day-comparison",
    type=click.Choice(SETTINGS["day_comparison"].choices),
    default="exclusive",
    metavar="NAME",
    help=f"{SETTINGS['day_comparison'].help} [exclusive]",
)


@click.group("validate", cls=Commands, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Check a search and print its request. Sends nothing.

    Needs neither an address nor a token. The exit code is 2 if the request breaks a rule of the service.
    """


@command.command("codes", epilog=_EPILOG)
@conditions.codes
@_TIMEZONE
@_DAY_COMPARISON
@output.JSON
def codes(search: Search, timezone: str, day_comparison: str, *, as_json: bool) -> None:
    """Check a search of promotion codes and print its request.

    A range of days is one request a day: each is printed in a line of its own.
    """
    _print(search, timezone, day_comparison, as_json=as_json)


@command.command("items", epilog=_EPILOG)
@conditions.items
@_TIMEZONE
@_DAY_COMPARISON
@output.JSON
def items(search: Search, timezone: str, day_comparison: str, *, as_json: bool) -> None:
    """Check a search of items and print its request.

    NAME is customer, promotion_code, or the name of an object of your own with its --item-type-id.
    """
    _print(search, timezone, day_comparison, as_json=as_json)


def _print(search: Search, timezone: str, day_comparison: str, *, as_json: bool) -> None:
    from dataaccess._client.functions import unconnected_client  # loads the core

    bodies = [request["body"] for request in search.scan(unconnected_client(timezone, day_comparison)).requests()]
    if len(bodies) == 1 and not as_json:
        output.write_json(bodies[0])
        return
    for body in bodies:
        click.echo(json.dumps(body, ensure_ascii=False))
