"""Rows that report how many of them were loaded."""

from __future__ import annotations

from collections.abc import Sized
from time import monotonic
from typing import TYPE_CHECKING, Any

from dataaccess.reports import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Rows between two reports.
_BLOCK = 1_000


def load_progress(rows: object) -> Callable[[int], Progress]:
    """Makes the progress of a load of a number of rows."""
    total, began = len(rows) if isinstance(rows, Sized) else None, monotonic()
    return lambda done: Progress(unit="rows", total=total, done=done, rows=done, seconds=monotonic() - began)


def reported(rows: Any, report: Callable[[int], object]) -> Any:
    """The same rows; those of an iterable are counted as they are taken."""
    report(0)
    return rows if hasattr(rows, "__arrow_c_stream__") else _counted(rows, report)


def _counted(rows: Any, report: Callable[[int], object]) -> Iterator[Any]:
    for number, row in enumerate(rows, 1):
        yield row
        if number % _BLOCK == 0:
            report(number)
