"""A disk that is soon full."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """A file system of so many bytes, where this user may have one."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        mounted = None
    if mounted is None or mounted.returncode:
        pytest.skip("this user cannot mount anything")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)
