"""`dataaccess codes`: prints promotion codes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from dataaccess.cli import conditions, output
from dataaccess.cli.connection import connecting
from dataaccess.cli.parts import Command

if TYPE_CHECKING:
    from dataaccess.cli.conditions import Search
    from dataaccess.cli.connection import Connection

_EPILOG = """\b
Examples:
  dataaccess codes --on 2024-01-15 --status sent,used
  dataaccess codes --days 2024-01-01 2024-02-01 --attrs id,code_status --csv > january.csv
  dataaccess codes --since 2024-02-01 --audience-type customer --audience @ids.txt | jq .id
"""


@click.command("codes", cls=Command, epilog=_EPILOG)
@conditions.codes
@conditions.LIMIT
@output.FORMS
@connecting()
def command(search: Search, limit: int | None, connection: Connection, **forms: bool) -> None:
    """Search promotion codes.

    Writes a table to a terminal and JSON lines elsewhere, once all rows have arrived. One time condition is required.
    The token needs the scope item.
    """
    output.check_forms(**forms)
    output.write_rows(search.scan(connection.client(), limit=limit), **forms)
