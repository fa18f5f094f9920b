"""A line on standard error while a long call runs, if that is a terminal."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any

from dataaccess._core.progress import WithoutBars
from dataaccess._display.text import cut, size
from dataaccess.cli.streams import note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess.reports import Progress

# Seconds without a line, and between two.
_PATIENCE = 1.0
_PAUSE = 0.1
# Columns of a terminal that does not say.
_USUAL = 80
_CLEAR = "\r\x1b[K"


class Line:
    """A line that is written over itself."""

    def __init__(self) -> None:
        """Nothing is shown yet."""
        self._next = monotonic() + _PATIENCE
        self._is_shown = False

    def show(self, text: str, lasts: float = 0.0) -> None:
        """Shows a text, if it is time, or if nothing else comes for so many seconds and it will be time then."""
        now = monotonic()
        if now + lasts >= self._next:
            self._next = now + _PAUSE
            self._is_shown = True
            # A text of two lines could not be removed.
            note(f"{_CLEAR}{cut(text, _columns() - 1)}", ends_line=False)

    def clear(self) -> None:
        """Removes the line."""
        if self._is_shown:
            note(_CLEAR, ends_line=False)


def _columns() -> int:
    """The width of the terminal of standard error: standard output may be a file."""
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except OSError:
        return _USUAL


@contextmanager
def line() -> Iterator[Line | None]:
    """The line for progress; None where nobody would see it."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        with WithoutBars():
            yield None
        return
    shown = Line()
    try:
        with WithoutBars(), _retries(shown):
            yield shown
    finally:
        shown.clear()


@contextmanager
def _retries(shown: Line) -> Iterator[None]:
    """Shows why a request is retried: until a service responds there is no other progress."""
    import logging

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            fields = record.__dict__
            shown.show(f"retry in {fields['delay']:.1f} s: {fields['detail']}", fields["delay"])

    logger, handler = logging.getLogger("dataaccess.retry"), Handler()
    if logger.isEnabledFor(logging.DEBUG):
        # `--verbose` prints each record in a line of its own.
        yield
        return
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


@contextmanager
def progress() -> Iterator[dict[str, Any]]:
    """The arguments of a scan that show its progress."""
    with line() as shown:
        yield {"progress": False if shown is None else lambda update: shown.show(_progress_text(update))}


def _progress_text(update: Progress) -> str:
    requests = "" if update.total == 1 else f"{update.done} of {update.total} requests, "
    failed = f"{update.failed} failed, " if update.failed else ""
    return f"{requests}{failed}{update.rows:,} rows, {size(update.bytes)}, {update.seconds:.0f} s"
