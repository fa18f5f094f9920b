"""Terminals: what this process or a command prints when people watch."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from support.commands import MODULE

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


def in_terminal(*words: str, columns: int = 100) -> tuple[int, str]:
    """Runs `dataaccess` in a terminal of so many columns: its exit code, and all that it printed."""
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, columns))
    process = subprocess.Popen([*MODULE, *words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    printed = b""
    with process:
        try:
            # Linux reports the end of a terminal as an error.
            with suppress(OSError):
                while piece := os.read(ours, 1 << 16):
                    printed += piece
            return process.wait(30), printed.decode().replace("\r\n", "\n")
        finally:
            process.kill()
            os.close(ours)
