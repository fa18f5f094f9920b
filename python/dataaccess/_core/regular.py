"""Files that users name: regular ones alone, and up to a size. It imports no core, as completion reads the profiles."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def read_file(path: str | Path, most: int) -> tuple[bytes, int]:
    """The bytes and the mode of a regular file of at most so many bytes.

    Raises:
        OSError: The file cannot be opened or read.
        ValueError: It is another kind of file, or larger; the text says which.
    """
    # Opening a pipe would wait for another process.
    at_once = getattr(os, "O_NONBLOCK", 0)
    with open(path, "rb", opener=lambda name, flags: os.open(name, flags | at_once)) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise ValueError("is not a regular file")
        content = file.read(most + 1) if found.st_size <= most else None
    if content is None or len(content) > most:
        del content
        raise ValueError(f"is larger than {most >> 20} MiB")
    return content, found.st_mode
