"""Results of calls, from the plain values of the core, and warnings of what is doubtful in them."""

from __future__ import annotations

from reprlib import Repr
from time import monotonic
from typing import TYPE_CHECKING

from dataaccess._core.embedded import warn_of_service
from dataaccess._core.warn import caller, warn_caller
from dataaccess._scan.outcome import warn_each
from dataaccess.errors import IncompleteWarning, SegmentExportError, WaitTimeoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any

    from dataaccess._types import ExportEntry, OnUpdate, Row, SegmentStatus
    from dataaccess.reports import Progress

# Entries that an error names, and characters of what each says.
_SHOWN = 5
_TEXT = Repr()
_TEXT.maxstring = _TEXT.maxother = 100


class Status(dict[str, object]):
    """The status of an export. It is a dict in all but its looks: `print` and notebooks show a row for each entry.

    Copies and pickles of it are plain dicts.
    """

    __slots__ = ("_export_id", "_success")

    def __init__(self, status: dict[str, Any], export_id: object, success: Collection[str]) -> None:
        """Takes the members of the status, of which export it is, and the codes of success."""
        super().__init__(status)
        self._export_id, self._success = export_id, success

    def __str__(self) -> str:
        """A line for each entry: what `print(status)` shows."""
        from dataaccess._display.segment import status_text

        return status_text(self, self._success)

    def __repr__(self) -> str:
        """The members as those of a dict; long ones are cut."""
        from dataaccess._display.text import literal

        return literal(dict(self))

    def _repr_html_(self) -> str:
        """The entries for notebooks."""
        from dataaccess._display.segment import status_html

        return status_html(self, self._export_id, self._success)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and deep copies as a dict."""
        return dict, (dict(self),)


def checked_rows(result: tuple[list[Row], list[dict[str, Any]]]) -> list[Row]:
    """The rows of a search. Warns of what is doubtful in them."""
    rows, warnings = result
    warn_each(warnings)
    return rows


def checked_status(response: dict[str, Any], export_id: object, success: Collection[str]) -> SegmentStatus:
    """The status of an export. Warns if it reports another number of entries than it has."""
    warn_of_service()
    status = _status(response, export_id, success)
    meta: object = status["meta"]
    total = meta.get("total") if isinstance(meta, dict) else None
    count = len(status["entries"])
    # A total of another type is the same number.
    if total is not None and str(total).removesuffix(".0") != str(count):
        warn_caller(f"the response reports {_TEXT.repr(total)} entries and has {count}", IncompleteWarning)
    return status


def warn_of_ends(entries: list[ExportEntry], line: dict[str, Any] | None = None) -> bool:
    """Warns of entries whose `endTime` is set and no end. Returns whether there are any."""
    from dataaccess._display.segment import has_ended

    odd = [entry for entry in entries if entry.get("endTime") is not None and not has_ended(entry)]
    if odd:
        warn_caller(
            f"an endTime that is no end, so the export counts as running: {entry_states(entries, odd)}",
            IncompleteWarning,
            line,
        )
    return bool(odd)


def _status(response: dict[str, Any], export_id: object, success: Collection[str]) -> SegmentStatus:
    data = response["data"]
    status = {"entries": data["entries"], "meta": data.get("meta")}
    status.update((name, value) for name, value in data.items() if name not in status)
    status.update((name, value) for name, value in response.items() if name != "data")
    return Status(status, export_id, success)  # type: ignore[return-value] # the members of the envelope


def entry_states(entries: list[ExportEntry], chosen: list[ExportEntry]) -> str:
    """The state of some entries, in one line."""
    numbered = [(number, entry) for number, entry in enumerate(entries, 1) if entry in chosen]
    texts = [f"entry {number} {entry_state(entry)}" for number, entry in numbered[:_SHOWN]]
    return ", ".join([*texts, *([f"and {len(numbered) - _SHOWN} more"] if len(numbered) > _SHOWN else [])])


def entry_state(entry: ExportEntry) -> str:
    """What an entry does, or how it ended: the verb of a sentence about it."""
    from dataaccess._display.segment import has_ended
    from dataaccess._display.text import cell

    started, end = entry.get("startTime"), entry.get("endTime")
    if not has_ended(entry):
        return f"is running since {cell(started)}" + ("" if end is None else f" (endTime {_TEXT.repr(end)})")
    details = [entry.get("responseCode"), entry.get("responseMessage")]
    said = " ".join(_TEXT.repr(detail) for detail in details if detail is not None)
    return f"ended at {cell(end)}" + (f" with {said}" if said else "")


def update_callback(
    export_id: object,
    success: Collection[str],
    on_update: OnUpdate | None,
    report: Callable[[dict[str, Any]], object] | None,
) -> Callable[[dict[str, Any]], object]:
    """A callback that gets each response: for `progress=`, for `on_update` in the form of the result, for a warning."""

    def in_form(response: dict[str, Any]) -> object:
        return on_update(_status(response, export_id, success)) if on_update is not None else None

    return _Updates([*([report] if report else []), in_form], caller())


class _Updates:
    """Calls functions; what is to be awaited of them is awaited together. Warns once of an `endTime` that is no end."""

    def __init__(self, functions: list[Any], line: dict[str, Any]) -> None:
        self._functions, self._line, self._has_warned = functions, line, False
        self.tick = getattr(functions[0], "tick", None) or (lambda: None)

    def __call__(self, response: dict[str, Any]) -> object:
        if not self._has_warned:
            self._has_warned = warn_of_ends(response["data"]["entries"], self._line)
        returned = [function(response) for function in self._functions]
        waiting: list[Any] = [each for each in returned if hasattr(each, "__await__")]
        if len(waiting) > 1:
            from asyncio import gather

            return gather(*waiting)
        return waiting[0] if waiting else None


def export_progress(success: Collection[str]) -> Callable[[dict[str, Any]], Progress]:
    """Makes the progress of a wait of each response."""
    from dataaccess._display.segment import state_of
    from dataaccess.reports import Progress

    began = monotonic()

    def convert(response: dict[str, Any]) -> Progress:
        entries = response["data"]["entries"]
        states = [state_of(entry, success) for entry in entries]
        rows = [entry.get("exportedRows") for entry in entries]
        return Progress(
            unit="entries",
            total=len(entries) or None,
            done=len(entries) - states.count("running"),
            failed=states.count("failed"),
            rows=sum(number for number in rows if isinstance(number, int)),
            seconds=monotonic() - began,
        )

    return convert


def ended(
    export_id: object,
    timeout: float,
    outcome: tuple[bool, dict[str, Any] | None],
    success: Collection[str],
    *,
    check: bool,
) -> SegmentStatus:
    """The status of an export that has ended; with `check`, successfully so far.

    Raises:
        SegmentExportError: An entry failed.
        WaitTimeoutError: It has not ended.
    """
    finished, last = outcome
    status = None if last is None else checked_status(last, export_id, success)
    entries = [] if status is None else status["entries"]
    if finished and status is not None:
        if check:
            check_entries(export_id, entries, success)
        return status
    states = entry_states(entries, entries) or "it has no entries yet"
    hint = "raise timeout"
    raise WaitTimeoutError(
        f"wait_for_segment: export {export_id} has not ended within {timeout:g} s: {states}; {hint}",
        operation="wait_for_segment",
        hint=hint,
        retryable=True,
        last=status,
    )


def check_entries(export_id: object, entries: list[ExportEntry], success: Collection[str]) -> None:
    """Checks the entries of an export that have ended.

    Raises:
        SegmentExportError: An entry failed.
    """
    from dataaccess._display.segment import state_of

    failed = [entry for entry in entries if state_of(entry, success) == "failed"]
    if failed:
        hint = "export_success_codes of the client has the codes of success"
        raise SegmentExportError(
            f"wait_for_segment: {len(failed)} of {len(entries)} entries of export {export_id} failed: "
            f"{entry_states(entries, failed)}; {hint}",
            operation="wait_for_segment",
            hint=hint,
            entries=entries,
        )
