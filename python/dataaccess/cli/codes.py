"""`dataaccess codes`: gets promotion codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli import options, rows
from dataaccess.cli.values import day_in
from dataaccess.filters import Comparison, Days

if TYPE_CHECKING:
    from dataaccess import Client, Scan

_TIMES = ("on", "days", "last", "since", "until")
_LISTS = {"code_status": "status", "audience_type": "audience-type", "allocated_audience": "audience"}
_OF_DAY = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")

_EXAMPLES = """\
codes --on yesterday --status sent,used -o codes.csv
codes --days 2024-01-01 today --folder codes   # each night
"""


@click.command("codes", cls=options.Command, epilog=_EXAMPLES)
@options.CODES
@options.WRITING
@options.connecting()
def command(where: Any, attrs: list[str] | None, connect: options.Connect, **given: Any) -> None:
    """Get promotion codes: to the terminal, a pipe, a file or a folder."""
    times = {name: value for name in _TIMES if (value := given.pop(name)) is not None}
    lists = {name: value for name in _LISTS if (value := given.pop(name)) is not None}
    is_time = isinstance(where, Comparison | Days)
    if where is not None:
        besides = [*times, *([] if is_time else [_LISTS[name] for name in lists])]
        if besides:
            what = "a time condition" if is_time else "the whole condition"
            raise click.UsageError(f"--where is {what}: leave out {', '.join(f'--{name}' for name in besides)}")
    elif len(times) != 1:
        what = "several of them are given" if times else "none is given"
        advice = "write one of --on, --since, --until, --days START STOP, --last N and --where"
        raise click.UsageError(f"a search of codes has one time condition, and {what}: {advice}")

    def scan_of(client: Client, **more: Any) -> Scan:
        if where is not None and not is_time:
            names = attrs or [name for name in da.PROMOTION_CODE_ATTRIBUTES if name != "channel_id"]
            return client.scan_items("promotion_code", names, where, **more)
        time = where if is_time else _time(*next(iter(times.items())), client.timezone)
        return client.scan_codes(attrs, allocated_time=time, **lists, **more)

    rows.write(scan_of, connect, **given)


def _time(name: str, value: Any, zone: str) -> Comparison | Days:
    """The condition of an option of days."""
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
