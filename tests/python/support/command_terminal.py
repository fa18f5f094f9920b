"""Programs in a terminal: what they print when people watch."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from collections.abc import Callable

MODULE = (sys.executable, "-m", "dataaccess")


def in_terminal(
    *words: str,
    columns: int = 100,
    while_running: Callable[[subprocess.Popen[bytes]], None] | None = None,
    respond: bytes = b"",
) -> tuple[int, str]:
    """Runs `dataaccess` in a terminal of so many columns: its exit code, and all that it printed."""
    own, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen([*MODULE, *words], stdin=other, stdout=other, stderr=other, start_new_session=True)
    os.close(other)
    # What is typed waits until the command reads it.
    os.write(own, respond)
    with process:
        try:
            if while_running is not None:
                while_running(process)
            printed = _all_of(own).replace("\r\n", "\n")
            return process.wait(30), printed
        finally:
            process.kill()
            os.close(own)


def _all_of(file: int) -> str:
    pieces = []
    while True:
        try:
            piece = os.read(file, 1 << 16)
        except OSError:
            # Linux reports the end of a terminal as an error.
            break
        if not piece:
            break
        pieces.append(piece)
    return b"".join(pieces).decode()
