"""Statistics and warnings, from the plain values of the core."""

from __future__ import annotations

from dataaccess import errors
from dataaccess._core.warn import warn_caller

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dataaccess._scan.client import ScanClient
    from dataaccess.reports import Progress, ScanStats


def stats_of(outcome: dict[str, Any]) -> ScanStats:
    """The figures of a use of a scan."""
    from dataaccess.reports import ScanStats

    figures = {name: value for name, value in outcome.items() if name != "warnings"}
    return ScanStats(**{**figures, "extra_keys": dict(outcome["extra_keys"])})


def warn_of(outcome: dict[str, Any]) -> None:
    """Warns of what is doubtful in the data."""
    warn_each(outcome["warnings"])


def warn_each(warnings: list[dict[str, Any]], line: dict[str, Any] | None = None) -> None:
    """Warns of each of these, at the line of the caller or at another one."""
    for warning in warnings:
        warn_caller(warning["message"], getattr(errors, warning["category"]), line)


def progress_of(client: ScanClient) -> Callable[[dict[str, Any]], Progress]:
    """Makes the progress of a scan of the plain values of the core."""
    from dataaccess.reports import Progress

    before = _retries(client)

    def convert(update: dict[str, Any]) -> Progress:
        known = {name: value for name, value in update.items() if name != "tasks"}
        return Progress(unit="tasks", total=update["tasks"], retries=_retries(client) - before, **known)

    return convert


def _retries(client: ScanClient) -> int:
    stats = client._raw.stats()  # noqa: SLF001 - the client of a scan
    return stats["retries"] + stats["free_retries"]
