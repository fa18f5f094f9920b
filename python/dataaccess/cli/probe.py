"""`dataaccess probe`: asks a platform what the API specification leaves open."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from dataaccess._client.profiles import config_path
from dataaccess._probe import toml
from dataaccess.cli import output
from dataaccess.cli.connection import connecting
from dataaccess.cli.ending import CommandError
from dataaccess.cli.parts import Command, option
from dataaccess.cli.profile_file import complete
from dataaccess.cli.streams import note
from dataaccess.cli.values import Day, Whole

if TYPE_CHECKING:
    from collections.abc import Container
    from datetime import date

    from dataaccess._probe.findings import ProbeReport
    from dataaccess.cli.connection import Connection

_NOT_CONFIRMED = 1

_EPILOG = """\b
Examples:
  dataaccess probe --day 2024-01-15 --export 5637051
  dataaccess probe --day 2024-01-15 --yes > platform.toml
  dataaccess probe --profile staging --day 2024-01-15 --write-profile staging
"""


@click.command("probe", cls=Command, epilog=_EPILOG)
@option("--day", type=Day(), required=True, metavar="DAY", help="A day that has many promotion codes.")
@option("--export", "export_id", type=Whole(), metavar="ID", help="A segment export that has ended.")
@option("--write-profile", metavar="NAME", help="Profile that gets the settings found; it is made if there is none.")
@option("--yes", is_flag=True, help="Send the requests without a confirmation; required without a terminal.")
@option("--json", "as_json", is_flag=True, help="All findings as JSON.")
@connecting()
def command(
    day: date,
    export_id: int | None,
    write_profile: str | None,
    connection: Connection,
    *,
    yes: bool,
    as_json: bool,
) -> None:
    """Find out what the API specification leaves open at your platform.

    Sends at most 38 requests, which only read: the codes of one day, searches that find where that day ends, and
    searches that find nothing, one customer, or are refused. Prints TOML: switches that make a sandbox behave as your
    platform, and settings for clients. Comments say what was seen, and of each point that is still open why.
    """
    from dataaccess._probe.probe import MOST_REQUESTS, probe  # loads the core

    client = connection.client()
    if not yes:
        if not sys.stdin.isatty():
            raise click.UsageError("add --yes to send the requests: without a terminal nobody can be asked")
        where = f"up to {MOST_REQUESTS} requests, which only read, to {client.base_url}"
        if not click.confirm(f"Send {where}?", err=True):
            raise CommandError("nothing was sent", _NOT_CONFIRMED)
    report = probe(client, day, export_id=export_id)
    if as_json:
        output.write_json(report.to_dict())
    else:
        click.echo(report.to_toml(), nl=False)
    if write_profile is not None:
        _write(write_profile, report)
    if sys.stderr.isatty():
        settled = sum(finding.value is not None for finding in report.findings)
        counted = f"{report.requests} requests settled {settled} of {len(report.findings)} open points"
        note(counted)


def _write(name: str, report: ProbeReport) -> None:
    """Adds the settings to a profile."""
    path = config_path()
    # The settings of a platform without its address would be used for any other.
    address = {} if report.base_url.startswith("sandbox:") else {"base_url": report.base_url}

    def lines_of(without: Container[str]) -> list[str]:
        return [*(toml.pair(*one) for one in address.items() if one[0] not in without), *report.profile_lines(without)]

    added = complete(path, name, {**address, **report.settings}, lines_of)
    note(f"wrote {', '.join(added) or 'nothing new'} into the profile {name} of {path}")
