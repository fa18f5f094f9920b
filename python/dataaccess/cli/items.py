"""`dataaccess items`: gets the items of a business object."""

from __future__ import annotations

from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli import options, rows
from dataaccess.filters import Comparison, Days

if TYPE_CHECKING:
    from dataaccess import Client, Scan

_EXAMPLES = """\
items customer --attrs name --matches customer_id=@ids.txt -o a.csv
items customer --attrs customer_id --where "col('vip').equals(1)"
items store --item-type-id 7 --attrs store_id --folder stores
"""


@click.command("items", cls=options.Command, epilog=_EXAMPLES)
@options.ITEMS
@options.WRITING
@options.connecting()
def command(
    item_type_name: str,
    matches: list[tuple[str, list[Any]]],
    where: Any,
    item_type_id: int | None,
    attrs: list[str] | None,
    connect: options.Connect,
    **writing: Any,
) -> None:
    """Get the items of a business object, such as customers.

    NAME is customer, promotion_code, or the name of an object of your own with its --item-type-id. All conditions must
    hold; without one every item is returned.
    """
    if attrs is None:
        raise click.UsageError("missing option --attrs: write the attributes to return, as --attrs customer_id,name")
    if isinstance(where, Comparison | Days):
        raise click.UsageError(f"--where: {where!r} names no column: write col('opened').{where!r}")
    if isinstance(where, dict) and matches:
        raise click.UsageError("--where with filters is the whole condition: leave out --matches")
    # The values of one column belong together, however often the option is given.
    columns: dict[str, list[Any]] = {}
    for column, values in matches:
        columns.setdefault(column, []).extend(values)
    conditions = [da.col(column).matches(values) for column, values in columns.items()]
    conditions += [] if where is None else [where]

    def scan_of(client: Client, **more: Any) -> Scan:
        found = reduce(and_, conditions) if conditions else None
        return client.scan_items(item_type_name, attrs, found, item_type_id=item_type_id, **more)

    rows.write(scan_of, connect, **writing)
