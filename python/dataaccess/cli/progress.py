"""A line on standard error while a long call runs, if that is a terminal."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from dataaccess._display.text import size
from dataaccess.cli.streams import note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess.reports import Progress

# Seconds without a line, and between two.
_PATIENCE = 1.0
_PAUSE = 0.1
_CLEAR = "\r\x1b[K"


class Line:
    """A line that is written over itself."""

    def __init__(self) -> None:
        """Nothing is shown yet."""
        self._next = monotonic() + _PATIENCE
        self._is_shown = False

    def show(self, text: str) -> None:
        """Shows a text, if it is time."""
        now = monotonic()
        if now >= self._next:
            self._next = now + _PAUSE
            self._is_shown = True
            note(f"{_CLEAR}{text}", ends_line=False)

    def clear(self) -> None:
        """Removes the line."""
        if self._is_shown:
            note(_CLEAR, ends_line=False)


@contextmanager
def line() -> Iterator[Line | None]:
    """The line for progress; None where nobody would see it."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    shown = Line()
    try:
        yield shown
    finally:
        shown.clear()


@contextmanager
def progress() -> Iterator[dict[str, Any]]:
    """The arguments of a scan that show its progress."""
    with line() as shown:
        yield {"progress": False if shown is None else lambda update: shown.show(_progress_text(update))}


def _progress_text(update: Progress) -> str:
    requests = "" if update.total == 1 else f"{update.done} of {update.total} requests, "
    failed = f"{update.failed} failed, " if update.failed else ""
    return f"{requests}{failed}{update.rows:,} rows, {size(update.bytes)}, {update.seconds:.0f} s"
