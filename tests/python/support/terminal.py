"""A terminal of this process: what is written to standard error goes to a pseudo-terminal."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

ROWS_AND_COLUMNS = (24, 160)


class Terminal:
    """The far end of a pseudo-terminal."""

    def __init__(self, descriptor: int) -> None:
        """Reads from the descriptor."""
        self._descriptor = descriptor

    def shown(self) -> str:
        """What was written since the last time."""
        text = b""
        while select.select([self._descriptor], [], [], 0.05)[0]:
            text += os.read(self._descriptor, 65_536)
        return text.decode()


@contextmanager
def terminal() -> Iterator[Terminal]:
    """Makes standard error a terminal."""
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, ROWS_AND_COLUMNS)
    before = sys.stderr
    try:
        with open(theirs, "w", encoding="utf-8", buffering=1) as stream:  # noqa: PTH123 - a descriptor, not a path
            sys.stderr = stream
            yield Terminal(ours)
    finally:
        sys.stderr = before
        os.close(ours)
