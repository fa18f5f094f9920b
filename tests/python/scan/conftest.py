"""Fixtures of the tests of scans."""

from support.fast_clock import short_pauses
from support.written_files import path, unchanged_folder

__all__ = ["path", "short_pauses", "unchanged_folder"]
