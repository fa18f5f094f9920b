"""Results of calls, from the plain values of the core, and warnings of what is doubtful in them."""

from __future__ import annotations

from reprlib import Repr

from dataaccess._core.warn import warn_caller
from dataaccess._scan.outcome import warn_each
from dataaccess.errors import IncompleteWarning, SegmentExportError, WaitTimeoutError

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from dataaccess.types import ExportEntry, OnUpdate, Row, SegmentStatus

# A `responseCode` of success, as a number or a string.
_SUCCESS = {"200", "200.0"}
# Entries that an error names, and characters of what each says.
_SHOWN = 5
_TEXT = Repr()
_TEXT.maxstring = _TEXT.maxother = 100


def checked_rows(result: tuple[list[Row], list[dict[str, Any]]]) -> list[Row]:
    """The rows of a search. Warns of what is doubtful in them."""
    rows, warnings = result
    warn_each(warnings)
    return rows


def checked_status(response: dict[str, Any]) -> SegmentStatus:
    """The status of an export. Warns if it reports another number of entries than it has."""
    status = _status(response)
    meta: object = status["meta"]
    total = meta.get("total") if isinstance(meta, dict) else None
    if total is not None and total != len(status["entries"]):
        warn_caller(f"the response reports {total} entries and has {len(status['entries'])}", IncompleteWarning)
    return status


def _status(response: dict[str, Any]) -> SegmentStatus:
    data = response["data"]
    status = {"entries": data["entries"], "meta": data.get("meta")}
    status.update((name, value) for name, value in data.items() if name not in status)
    status.update((name, value) for name, value in response.items() if name != "data")
    return status  # type: ignore[return-value] # the members of the envelope


def has_failed(entry: ExportEntry) -> bool:
    """Whether an entry that has ended failed. 200 is the only success that the API specification knows."""
    code = entry.get("responseCode")
    return code is not None and str(code) not in _SUCCESS


def _states(entries: list[ExportEntry], chosen: list[ExportEntry]) -> str:
    """The state of some entries, in one line."""
    numbered = [(number, entry) for number, entry in enumerate(entries, 1) if entry in chosen]
    texts = [f"entry {number} {_state(entry)}" for number, entry in numbered[:_SHOWN]]
    return ", ".join([*texts, *([f"and {len(numbered) - _SHOWN} more"] if len(numbered) > _SHOWN else [])])


def _state(entry: ExportEntry) -> str:
    started, end = entry.get("startTime"), entry.get("endTime")
    if end is None:
        return f"is running since {started}"
    details = [entry.get("responseCode"), entry.get("responseMessage")]
    said = " ".join(_TEXT.repr(detail) for detail in details if detail is not None)
    return f"ended at {end}" + (f" with {said}" if said else "")


def update_callback(on_update: OnUpdate | None) -> Callable[[dict[str, Any]], object] | None:
    """A callback that gets each response in the form of the result."""
    return None if on_update is None else lambda response: on_update(_status(response))


def ended(
    export_id: object, timeout: float, outcome: tuple[bool, dict[str, Any] | None], *, check: bool
) -> SegmentStatus:
    """The status of an export that has ended; with `check`, successfully.

    Raises:
        SegmentExportError: An entry failed.
        WaitTimeoutError: It has not ended.
    """
    finished, last = outcome
    status = None if last is None else checked_status(last)
    entries = [] if status is None else status["entries"]
    if finished and status is not None:
        failed = [entry for entry in entries if check and has_failed(entry)]
        if not failed:
            return status
        raise SegmentExportError(
            f"wait_for_segment: {len(failed)} of {len(entries)} entries of export {export_id} failed: "
            f"{_states(entries, failed)}; all entries are in .entries, and check=False returns them",
            operation="wait_for_segment",
            hint="check=False returns the entries",
            entries=entries,
        )
    states = _states(entries, entries) or "it has no entries yet"
    raise WaitTimeoutError(
        f"wait_for_segment: export {export_id} has not ended within {timeout:g} s: {states}; "
        "raise timeout=, the last response is in .last",
        operation="wait_for_segment",
        hint="raise timeout=",
        retryable=True,
        last=status,
    )
