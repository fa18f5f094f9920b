"""Reads files that users name."""

from __future__ import annotations

import stat
from pathlib import Path


def read_file(name: str | Path) -> tuple[bytes, int]:
    """The bytes and the mode of a file.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is no regular file. Opening a pipe would wait for another process.
    """
    path = Path(name)
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise ValueError("is not a regular file")
    return path.read_bytes(), mode
