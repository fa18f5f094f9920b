"""`dataaccess segment`: the status of a segment export."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from dataaccess.cli import options, output
from dataaccess.cli.parts import Command, option
from dataaccess.cli.values import Whole, duration
from dataaccess.errors import SegmentExportError, WaitTimeoutError

if TYPE_CHECKING:
    from dataaccess import Client
    from dataaccess._client.segment import SegmentStatus
    from dataaccess.cli.options import Connect

_EXAMPLES = """\
segment 5637051
segment 5637051 --wait --timeout 30m && ./load.sh
"""

_WAIT = 3600.0
_NEGATIVE = re.compile(r"-\d+")


class _Segment(Command):
    """A command whose argument may be a negative integer, which click would read as an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes what looks like an option and is none as an argument, if a negative integer is given."""
        ctx.ignore_unknown_options = any(map(_NEGATIVE.fullmatch, args))
        return super().parse_args(ctx, args)


@click.command("segment", cls=_Segment, epilog=_EXAMPLES)
@click.argument("export_id", type=Whole())
@option("--wait", None, "Wait until every entry has ended; a failed entry is an error.")
@option("--timeout", "TIME", "Limit of the wait [1h], or of one call [5m].", type=duration)
@options.connecting("timeout")
def command(export_id: int, timeout: float | None, connect: Connect, *, wait: bool, as_json: bool) -> None:
    """Show the status of a segment export, or wait for its end.

    With --wait the exit code is 0 if every entry succeeded, 69 if one failed, 75 if the export has not ended in
    time. The token needs a scope for downloads, whose name is not specified: perhaps download.
    """
    client = connect()
    if wait:
        status = _waited(client, export_id, _WAIT if timeout is None else timeout, as_json=as_json)
    else:
        status = client.download_segment(export_id, timeout=timeout)
    _print(status, as_json=as_json)


def _waited(client: Client, export_id: int, timeout: float, *, as_json: bool) -> SegmentStatus:
    """The status at the end. An error comes after the last status."""
    last: list[SegmentStatus] = []
    try:
        return client.wait_for_segment(export_id, timeout=timeout, on_update=last.append, progress=output.progress())
    except (SegmentExportError, WaitTimeoutError):
        for status in last[-1:]:
            _print(status, as_json=as_json)
        raise


def _print(status: SegmentStatus, *, as_json: bool) -> None:
    if as_json or not output.is_terminal():
        output.write_json(status)
    else:
        output.write_grid(status._columns(output.MOST), status._summary())
