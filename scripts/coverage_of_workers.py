"""A plugin of pytest for `make coverage`: pytest-xdist kills workers that take ten seconds to end, and their data."""

from __future__ import annotations

import coverage


def pytest_sessionfinish() -> None:
    """Writes what was measured while the worker still has time."""
    if (measured := coverage.Coverage.current()) is not None:
        measured.stop()
        measured.save()
