"""Results of calls, from the plain values of the core, and warnings of what is doubtful in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from dataaccess._core.warn import warn_caller
from dataaccess._scan.outcome import warn_of
from dataaccess.errors import IncompleteWarning, WaitTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataaccess.types import OnUpdate, Row, SegmentStatus


def checked_rows(result: tuple[list[Row], dict[str, Any]]) -> list[Row]:
    """The rows of a search. Warns of what is doubtful in them."""
    rows, outcome = result
    warn_of(outcome)
    return rows


def checked_status(response: dict[str, Any]) -> SegmentStatus:
    """The status of an export. Warns if it reports another number of entries than it has."""
    data = response["data"]
    meta = data.get("meta")
    total = meta.get("total") if isinstance(meta, dict) else None
    status = {"entries": data["entries"], "meta": meta}
    status.update((name, value) for name, value in data.items() if name not in status)
    status.update((name, value) for name, value in response.items() if name != "data")
    if total is not None and total != len(data["entries"]):
        warn_caller(f"the response reports {total} entries and has {len(data['entries'])}", IncompleteWarning)
    return cast("SegmentStatus", status)


def update_callback(on_update: OnUpdate | None) -> Callable[[dict[str, Any]], object] | None:
    """A callback that gets each response in the form of the last one."""
    return None if on_update is None else lambda response: on_update(checked_status(response))


def ended(export_id: object, timeout: float, outcome: tuple[bool, dict[str, Any] | None]) -> SegmentStatus:
    """The status of an export that has ended, or a `WaitTimeoutError`."""
    finished, last = outcome
    status = None if last is None else checked_status(last)
    if finished and status is not None:
        return status
    raise WaitTimeoutError(
        f"wait_for_segment: export {export_id} has not ended within {timeout:g} s; "
        "raise timeout=, the last response is in .last",
        operation="wait_for_segment",
        hint="raise timeout=",
        retryable=True,
        last=status,
    )
