"""What a terminal shows while a call of the command runs: the bars of the calls, and a line for each retry."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dataaccess._display.text import cell
from dataaccess.cli.streams import note

if TYPE_CHECKING:
    from collections.abc import Iterator

# Columns of the reason of a retry.
_REASON = 200
# A bar is drawn again below the line.
_CLEAR = "\r\x1b[K"


class _Retries(logging.Handler):
    """Prints why a request is retried: until a service responds there is no bar."""

    def emit(self, record: logging.LogRecord) -> None:
        """Prints a line."""
        fields = record.__dict__
        note(f"{_CLEAR}retry in {fields['delay']:.1f} s: {cell(fields['detail'], _REASON)}")


@contextmanager
def retries_shown() -> Iterator[None]:
    """Prints a line for each retry, if standard error is a terminal."""
    logger, handler = logging.getLogger("dataaccess.retry"), _Retries()
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    # `--verbose` prints all records.
    if not is_terminal or logger.isEnabledFor(logging.DEBUG):
        yield
        return
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
