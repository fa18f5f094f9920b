"""Statistics and warnings, from the plain values of the core."""

from __future__ import annotations

from dataaccess import errors
from dataaccess._core.warn import warn_caller

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dataaccess.reports import ScanProgress, ScanStats
    from dataaccess.types import OnProgress


def stats_of(outcome: dict[str, Any]) -> ScanStats:
    """The figures of a use of a scan."""
    from dataaccess.reports import ScanStats

    figures = {name: value for name, value in outcome.items() if name != "warnings"}
    return ScanStats(**{**figures, "extra_keys": dict(outcome["extra_keys"])})


def warn_of(outcome: dict[str, Any]) -> None:
    """Warns of what is doubtful in the data."""
    warn_each(outcome["warnings"])


def warn_each(warnings: list[dict[str, Any]]) -> None:
    """Warns of each of these."""
    for warning in warnings:
        warn_caller(warning["message"], getattr(errors, warning["category"]))


def progress_callback(on_progress: OnProgress | None) -> Callable[[dict[str, Any]], object] | None:
    """A callback for the plain values of the core."""
    return None if on_progress is None else lambda update: on_progress(progress_of(update))


def progress_of(update: dict[str, Any]) -> ScanProgress:
    """The progress of a run, or of another use of a scan."""
    from dataaccess.reports import ScanProgress

    known = {name: value for name, value in update.items() if name not in ("tasks", "other_service")}
    return ScanProgress(total=update["tasks"], **known)
