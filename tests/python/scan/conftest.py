"""Fixtures of the tests of scans."""

from support.fast_clock import short_pauses
from support.runs import service, store
from support.tasks import elsewhere
from support.written_files import path, unchanged_folder

__all__ = ["elsewhere", "path", "service", "short_pauses", "store", "unchanged_folder"]
