"""Statistics and warnings, from the plain values of the core."""

from __future__ import annotations

from typing import Any

from dataaccess import errors
from dataaccess._core.warn import warn_caller
from dataaccess.reports import ScanStats


def stats_of(outcome: dict[str, Any]) -> ScanStats:
    """The figures of a use of a scan."""
    figures = {name: value for name, value in outcome.items() if name != "warnings"}
    return ScanStats(**{**figures, "extra_keys": dict(outcome["extra_keys"])})


def warn_of(outcome: dict[str, Any]) -> None:
    """Warns of what is doubtful in the data."""
    for warning in outcome["warnings"]:
        warn_caller(warning["message"], getattr(errors, warning["category"]))
