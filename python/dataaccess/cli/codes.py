"""`dataaccess codes`: gets promotion codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli import options, rows
from dataaccess.cli.parts import Command
from dataaccess.cli.values import day_in, flat, numbered
from dataaccess.filters import Comparison, Days

if TYPE_CHECKING:
    from dataaccess import Client, Scan
    from dataaccess.cli.options import Connection

_OF_DAY = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")

_EXAMPLES = """\
codes --on yesterday --status sent,used -o codes.csv
codes --days 2024-01-01 today --folder codes   # each night
"""


@click.command("codes", cls=Command, epilog=_EXAMPLES)
@options.CODES
@options.WRITING
@options.connecting()
def command(
    where: Any,
    status: list[list[str]],
    audience_type: list[list[str]],
    audience: list[list[str]],
    attrs: list[list[str]],
    connection: Connection,
    **others: Any,
) -> None:
    """Get promotion codes: to the terminal, a pipe, a file or a folder."""
    times = {name: others.pop(name) for name in ("on", "days", "last", "since", "until")}
    given = {name: value for name, value in times.items() if value is not None}
    lists = {"status": status, "audience-type": audience_type, "audience": audience}
    attributes = flat(attrs) or None
    is_time = isinstance(where, Comparison | Days)
    if where is not None:
        besides = [*given, *([] if is_time else [name for name, value in lists.items() if value])]
        if besides:
            what = "a time condition" if is_time else "the whole condition"
            raise click.UsageError(f"--where is {what}: leave out {', '.join(f'--{name}' for name in besides)}")
    elif len(given) != 1:
        what = "several of them are given" if given else "none is given"
        advice = "write one of --on, --since, --until, --days START STOP, --last N and --where"
        raise click.UsageError(f"a search of codes has one time condition, and {what}: {advice}")

    def scan_of(client: Client, **more: Any) -> Scan:
        if where is not None and not is_time:
            names = attributes or [name for name in da.PROMOTION_CODE_ATTRIBUTES if name != "channel_id"]
            return client.scan_items("promotion_code", names, where, **more)
        return client.scan_codes(
            attributes,
            allocated_time=where if is_time else _time(given, client.timezone),
            code_status=numbered(status),
            audience_type=numbered(audience_type),
            allocated_audience=flat(audience) or None,
            **more,
        )

    rows.write(scan_of, connection, **others)


def _time(given: dict[str, Any], zone: str) -> Comparison | Days:
    """The condition of the one option of days."""
    ((name, value),) = given.items()
    if name == "last":
        return da.last_days(value)
    if name == "days":
        start, stop = (day_in(day, zone) for day in value)
        return da.days(start, stop)
    if _OF_DAY.match(value.strip()):
        # It would be dropped.
        raise click.UsageError(f"--{name}: days are whole, and {value} has a time of day: write {value.strip()[:10]}")
    comparison: Comparison = getattr(da, name)(day_in(value, zone))
    return comparison
