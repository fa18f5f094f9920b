"""`dataaccess segment`: the status of a segment export."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from dataaccess.cli import output
from dataaccess.cli.options import Command, Connect, connecting, option
from dataaccess.cli.values import Whole, duration
from dataaccess.errors import SegmentExportError, WaitTimeoutError

if TYPE_CHECKING:
    from dataaccess._client.segment import SegmentStatus

_EXAMPLES = """\
segment 5637051
segment 5637051 --wait --timeout 30m && ./load.sh
"""

_WAIT = 3600.0


class _Segment(Command):
    """A command whose argument may be a negative integer, which click would read as an option."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Takes what looks like an option and is none as an argument, if a negative integer is given."""
        ctx.ignore_unknown_options = any(re.fullmatch(r"-\d+", one) for one in args)
        return super().parse_args(ctx, args)


@click.command("segment", cls=_Segment, epilog=_EXAMPLES)
@click.argument("export_id", type=Whole())
@option("--wait", None, "Wait until every entry has ended; a failed entry is an error.")
@option("--timeout", "TIME", "Limit of the wait [1h], or of one call [5m].", type=duration)
@connecting("timeout")
def command(export_id: int, timeout: float | None, connect: Connect, *, wait: bool) -> None:
    """Show the status of a segment export, or wait for its end.

    With --wait the exit code is 0 if every entry succeeded, 69 if one failed, 75 if the export has not ended in
    time. The token needs a scope for downloads, whose name is not specified: perhaps download.
    """
    client = connect()
    seen: list[SegmentStatus] = []
    if not wait:
        _print(client.download_segment(export_id, timeout=timeout))
        return
    limit = _WAIT if timeout is None else timeout
    try:
        _print(client.wait_for_segment(export_id, timeout=limit, on_update=seen.append, progress=output.progress()))
    except (SegmentExportError, WaitTimeoutError):
        # The error comes after the last status.
        for status in seen[-1:]:
            _print(status)
        raise


def _print(status: SegmentStatus) -> None:
    if output.wants("json") or not output.is_terminal():
        output.write_json(status)
    else:
        output.write_grid(status._columns(output.MOST), status._summary())
