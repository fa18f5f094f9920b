"""`folder_status`: what a folder of a run holds."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

from dataaccess._core.checks import SETTLE, count, invalid, settle_seconds
from dataaccess._core.paths import location
from dataaccess._core.secret import checked, hidden
from dataaccess._native import folder_status as read_status
from dataaccess._public import public

if TYPE_CHECKING:
    from dataaccess._types import PathArgument, StorageOptions
    from dataaccess.reports import FolderReport


@public
def folder_status(
    folder: PathArgument,
    *,
    settle: float | timedelta = SETTLE,
    known_row_cap: int | None = None,
    until: date | str | None = None,
    storage_options: StorageOptions | None = None,
) -> FolderReport:
    """Says what a folder of a run holds: its days and those that are missing, their age, and what looks wrong.

    It reads the end of each file, not the rows, and needs neither a service nor a token.

    Args:
        folder: The folder, or its URL in an object store.
        settle: A day is final if it was requested so long after its end: a timedelta, or a number of days.
        known_row_cap: A number of rows at which the service is known to cap responses: files with exactly that number
            are in doubt. Without it, files with equal highest or round numbers of rows are.
        until: The last day that the folder should have, such as "2024-01-31", or "yesterday" in the zone of the folder:
            days after its last file are missing too. Without it, a folder that stopped growing looks whole.
        storage_options: How to reach an object store.

    Returns:
        The report; `print` shows it in lines.

    Raises:
        ValidationError: `known_row_cap` is no number of rows, or `until` no day.
        FileError: There is no such folder, or it cannot be read.
        FolderError: It holds files that are of no run.

    Examples:
        >>> import dataaccess as da
        >>> client = da.Client("sandbox:demo?until=2024-02-29")
        >>> report = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-04")).to_folder("codes")
        >>> status = da.folder_status("codes")
        >>> status.days, status.missing_days, status.open_days
        (['2024-01-01', '2024-01-02', '2024-01-03'], [], [])
    """
    options = hidden(storage_options)
    place = location("folder", folder, options)
    cap = None if known_row_cap is None else count("known_row_cap", known_row_cap)
    if until is not None and not isinstance(until, str) and type(until) is not date:
        raise invalid("until", 'must be a day as "2024-01-31", a date or "yesterday"', until)
    last = until if until is None or isinstance(until, str) else until.isoformat()
    found = read_status(place, settle_seconds(settle), cap, last, checked(options))
    from dataaccess.reports import FolderReport  # as in `stats_of`

    return FolderReport._of(found, place)
