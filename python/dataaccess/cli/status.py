"""`dataaccess status`: what a folder holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli import options, output
from dataaccess.cli.ending import DOUBTFUL, CommandError
from dataaccess.cli.options import Command, option
from dataaccess.cli.values import PATH, settle

if TYPE_CHECKING:
    from datetime import timedelta

    from dataaccess.reports import FolderReport

_EXAMPLES = """\
status /data/codes --until yesterday
status s3://warehouse/codes --strict --json
"""


@click.command("status", cls=Command, epilog=_EXAMPLES)
@click.argument("folder", type=PATH)
@option("--until", "DAY", "The last day that should be there, as 2024-01-31 or yesterday.")
@option("--strict", None, "Exit with 65 if days are missing, open or doubtful, or without files.")
@option("--settle", "TIME", options.SETTLING, type=settle)
def command(folder: str, settle: timedelta | None, until: str | None, *, strict: bool) -> None:
    """Show what a folder of codes or items holds.

    Its days, those that are missing or not final, its age, and what looks wrong. Needs neither an address nor a token.
    A damaged file is exit code 65.
    """
    chosen: dict[str, Any] = {} if settle is None else {"settle": settle}
    status = da.folder_status(folder, until=until, **chosen)
    if output.wants("json") or not output.is_terminal():
        output.write_json(status.to_dict())
    else:
        click.echo(str(status))
    if problem := _problem(status, strict=strict):
        raise CommandError(f"{status.folder} {problem}", DOUBTFUL)


def _problem(status: FolderReport, *, strict: bool) -> str | None:
    if strict and not status.files:
        return "has no files"
    counts = {
        "damaged": sum(file.state == "damaged" for file in status.files),
        "missing": len(status.missing_days) * strict,
        "open": len(status.open_days) * strict,
        "doubtful": len(status.doubtful_days) * strict,
    }
    found = [f"{count:,} {name}" for name, count in counts.items() if count]
    return f"has files or days that are not as they should be: {', '.join(found)}" if found else None
