"""Statistics and warnings, from the plain values of the core; `ScanClient`, what a scan uses of its client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from dataaccess import errors
from dataaccess._core.embedded import warn_of_service
from dataaccess._core.warn import warn_caller

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import DataclassInstance

    from dataaccess._native import RawClient
    from dataaccess.reports import Progress, ScanStats


class ScanClient(Protocol):
    """The part of a client that scans use: they do not import the clients, which make them."""

    _raw: RawClient
    _settings: Any

    @property
    def base_url(self) -> str: ...
    @property
    def timezone(self) -> str: ...
    @property
    def day_comparison(self) -> str: ...
    def _note_days(self, body: Callable[[], dict[str, Any]] | None) -> None: ...


def stats_of(outcome: dict[str, Any]) -> ScanStats:
    """The figures of a use of a scan."""
    from dataaccess.reports import ScanStats  # dataclasses take longer to load than a client

    warnings = [warning["message"] for warning in outcome["warnings"]]
    converted = {"extra_keys": dict(outcome["extra_keys"]), "warnings": warnings}
    converted |= {"response_headers": outcome["response_headers"]()}
    return ScanStats(**{**members(ScanStats, outcome), **converted})


def members(report: type[DataclassInstance], values: dict[str, Any]) -> dict[str, Any]:
    """The values that a report shows. The core gives figures for later reports too."""
    from dataclasses import fields

    return {field.name: values[field.name] for field in fields(report)}


def warn_of(outcome: dict[str, Any]) -> None:
    """Warns of what is doubtful in the data."""
    warn_each(outcome["warnings"])


def warn_each(warnings: list[dict[str, Any]], line: dict[str, Any] | None = None) -> None:
    """Warns of each of these, at the line of the caller or at another one, and of a sandbox of another process."""
    warn_of_service()
    for warning in warnings:
        warn_caller(warning["message"], getattr(errors, warning["category"]), line)


def warn_without_times(tz: str | None, types: list[tuple[str, str]]) -> None:
    """Warns of a `tz=` that changes nothing: no column is of type timestamp."""
    if tz is not None and types and all(kind != "timestamp" for _, kind in types):
        warn_caller(
            f"tz={tz!r} changes nothing: no column has the type timestamp. Declare the types of attributes "
            f"in item_types of the client, or give schema",
            errors.DataAccessWarning,
        )


def progress_of(client: ScanClient) -> Callable[[dict[str, Any]], Progress]:
    """Makes the progress of a scan of the plain values of the core."""
    from dataaccess.reports import Progress  # as in `stats_of`

    before = _retries(client)

    def convert(update: dict[str, Any]) -> Progress:
        known = {name: value for name, value in update.items() if name not in ("tasks", "ended")}
        day = update["ended"] and update["ended"]["day"]
        return Progress(unit="tasks", total=update["tasks"], retries=_retries(client) - before, day=day, **known)

    return convert


def _retries(client: ScanClient) -> int:
    stats = client._raw.stats()
    return stats["retries"] + stats["free_retries"]
