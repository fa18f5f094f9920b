"""`dataaccess items`: prints the items of a business object."""

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
  dataaccess items customer --attrs customer_id,name --matches customer_id=17,42
  dataaccess items customer --attrs customer_id --matches customer_id=@ids.txt --csv
  dataaccess items store --item-type-id 7 --attrs store_id --since opened=2024-01-01
"""


@click.command("items", cls=Command, epilog=_EPILOG)
@conditions.items
@conditions.LIMIT
@output.FORMS
@connecting()
def command(search: Search, limit: int | None, connection: Connection, **forms: bool) -> None:
    """Search the items of a business object, such as customers.

    NAME is customer, promotion_code, or the name of an object of your own with its --item-type-id. All conditions must
    hold; without one every item is returned. Writes a table to a terminal and JSON lines elsewhere, once all rows have
    arrived.
    """
    output.check_forms(**forms)
    output.write_rows(search.scan(connection.client(), limit=limit), **forms)
