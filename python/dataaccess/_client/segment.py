"""The status of a segment export: a dict that shows itself as a table, and the wait for its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from os import getpid
from reprlib import Repr
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from dataaccess._core.checks import boolean_argument, invalid, positive_seconds
from dataaccess._core.embedded import warn_of_service
from dataaccess._core.warn import caller, warn_caller
from dataaccess._display.grid import Column, columns_of, ruled
from dataaccess._display.text import MAX_WIDTH, cell, counted, duration, literal
from dataaccess.errors import (
    ClientClosedError,
    ConnectError,
    DataAccessError,
    IncompleteWarning,
    SegmentExportError,
    WaitTimeoutError,
)

if TYPE_CHECKING:
    from dataaccess._native import RawClient
    from dataaccess._types import ExportEntry
    from dataaccess.reports import Progress

# Of the columns that are no strings.
_TYPES = {"entry": "int64", "rows": "int64", "started": "timestamp", "took": "int64"}
_KINDS = {"running": "busy", "finished": "good", "failed": "bad"}
_UNKNOWN = "–"  # noqa: RUF001 - a dash
# Entries that a table shows and that an error names, and characters of each text in an error.
_MAX_ENTRIES = 100
_NAMED = 5
_TEXT = Repr()
_TEXT.maxstring = _TEXT.maxother = 100
_SUCCESS = ("200",)
# Seconds: the first pause of a wait, each later one is 1.5 times as long; what is left for the last request besides the
# duration of the one before it; and the least that is left for any.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 15.0
_LAST_POLL, _LEAST = 0.1, 0.001


class SegmentStatus(dict[str, Any]):
    """The status of a segment export: a dict of `entries`, `meta` and the members of the envelope.

    `print` and notebooks show a row for each entry. Copies and pickles of it are plain dicts.
    """

    __slots__ = ("_export_id", "_success")

    if TYPE_CHECKING:

        @overload
        def __getitem__(self, name: Literal["entries"], /) -> list[ExportEntry]: ...
        @overload
        def __getitem__(self, name: str, /) -> Any: ...
        def __getitem__(self, name: str, /) -> Any: ...

    def __init__(self, response: dict[str, Any], export_id: object, success: Collection[str] = _SUCCESS) -> None:
        """Takes a response, the id of the export, and the codes of success. The members of `data` come first."""
        super().__init__({"entries": None, "meta": None, **response["data"], **response})
        del self["data"]
        self._export_id, self._success = export_id, success

    @property
    def is_finished(self) -> bool:
        """Whether there are entries and each of them has an end."""
        return bool(self["entries"]) and all(map(has_ended, self["entries"]))

    def __str__(self) -> str:
        """The table of the entries, as `print` shows it."""
        columns = self._columns()
        return "\n".join([self._summary(), *(ruled(columns).lines if columns else [])])

    def __repr__(self) -> str:
        """The members as those of a dict; long ones are cut."""
        return literal(dict(self))

    def _repr_html_(self) -> str:
        """The table of the entries for notebooks."""
        from dataaccess._display import html  # for notebooks only

        rows = self._rows()
        cells = [[*(row | {"state": html.Mark(str(row["state"]), _KINDS[str(row["state"])])}).values()] for row in rows]
        table = html.table([*rows[0]], [], cells, [_TYPES.get(name) == "int64" for name in rows[0]]) if rows else ""
        title = "Segment export" if self._export_id is None else f"Segment export {self._export_id}"
        return html.block(html.title(title, self._summary()), table)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies as a dict."""
        return dict, (dict(self),)

    def _summary(self) -> str:
        """How many entries there are, by their state."""
        states = [state_of(entry, self._success) for entry in self["entries"]]
        counts = [f"{states.count(state)} {state}" for state in _KINDS if state in states]
        return f"{counted(len(states), 'entry', 'entries')}: {', '.join(counts)}" if states else "no entries yet"

    def _columns(self, most: int = MAX_WIDTH) -> list[Column]:
        """The columns of the table; none without entries. No cell is wider than `most`."""
        rows = self._rows()
        types = {name: _TYPES.get(name, "string") for name in rows[0]} if rows else {}
        return columns_of(types, rows, has_types=False, most=most)

    def _rows(self) -> list[dict[str, object]]:
        shown = enumerate(self["entries"][:_MAX_ENTRIES], 1)
        return [{"entry": number, "state": state_of(entry, self._success), **_cells(entry)} for number, entry in shown]


OnUpdate: TypeAlias = Callable[[SegmentStatus], object]
"""Called with each response while waiting, the last one too. `AsyncClient` awaits a coroutine function."""


def success_texts(codes: object) -> tuple[str, ...]:
    """The codes of `success_codes` as texts: 200, 200.0 and "200" are one code."""
    given: Collection[Any] = codes if isinstance(codes, Collection) and not isinstance(codes, str) else ()
    if not given or any(isinstance(code, bool) or not isinstance(code, int | str) or code == "" for code in given):
        raise invalid("success_codes", "must be integers or strings, such as (200, 201)", codes)
    return tuple(map(_code_text, given))


def _code_text(code: object) -> str:
    import json

    return (code if isinstance(code, str) else json.dumps(code)).removesuffix(".0")


def has_ended(entry: Mapping[str, object]) -> bool:
    """Whether an entry has an end: neither a blank string nor a time before the start."""
    end = entry.get("endTime")
    if end is None or (isinstance(end, str) and not end.strip()):
        return False
    start, end_time = _instant(entry.get("startTime")), _instant(end)
    return start is None or end_time is None or start <= end_time


def _instant(value: object) -> datetime | None:
    """A time as the API specification shows it; one without an offset is in UTC."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found is not None and found.tzinfo is None else found


def state_of(entry: Mapping[str, object], success: Collection[str] = _SUCCESS) -> str:
    """`running`, `finished` or `failed`: it has ended with a code that is none of the codes of success."""
    code = entry.get("responseCode")
    ended = "finished" if code is None or _code_text(code) in success else "failed"
    return ended if has_ended(entry) else "running"


def _cells(entry: Mapping[str, object]) -> dict[str, object]:
    """The columns of tables from `rows` on: the time of the start is to the second."""
    rows, code, message = entry.get("exportedRows"), entry.get("responseCode"), entry.get("responseMessage")
    texts = [each if isinstance(each, str) else literal(each) for each in (code, message) if each is not None]
    started, took = entry.get("startTime"), None
    start, end = _instant(started), _instant(entry.get("endTime"))
    if start is not None and end is not None and start <= end:
        took = duration((end - start).total_seconds())
    if isinstance(started, str) and len(started) <= MAX_WIDTH:
        started = re.sub(r"(?<=\d)T(\d\d:\d\d:\d\d)(\.\d+)?", r" \1", started)
    # The message comes before the times: it tells the cause of a failure, and narrow terminals cut the last columns.
    cells = {"rows": f"{rows:,}" if isinstance(rows, int) else rows, "message": " ".join(texts) or None}
    cells |= {"started": started, "took": took}
    return {name: _UNKNOWN if value is None else value for name, value in cells.items()}


def entry_states(entries: list[ExportEntry], chosen: list[ExportEntry]) -> str:
    """The state of some entries, in one line."""
    numbered = [(number, entry) for number, entry in enumerate(entries, 1) if entry in chosen]
    texts = [f"entry {number} {entry_state(entry)}" for number, entry in numbered[:_NAMED]]
    return ", ".join([*texts, *([f"and {len(numbered) - _NAMED} more"] if len(numbered) > _NAMED else [])])


def entry_state(entry: ExportEntry) -> str:
    """What an entry does, or how it ended: the verb of a sentence about it."""
    started, end = entry.get("startTime"), entry.get("endTime")
    if not has_ended(entry):
        return f"is running since {cell(started)}" + ("" if end is None else f" (endTime {_TEXT.repr(end)})")
    details = [entry.get("responseCode"), entry.get("responseMessage")]
    said = " ".join(_TEXT.repr(detail) for detail in details if detail is not None)
    return f"ended at {cell(end)}" + (f" with {said}" if said else "")


def check_entries(export_id: object, entries: list[ExportEntry], success: Collection[str]) -> None:
    """Raises `SegmentExportError` if an entry has failed."""
    failed = [entry for entry in entries if state_of(entry, success) == "failed"]
    if failed:
        hint = "success_codes names the codes of success"
        raise SegmentExportError(
            f"wait_for_segment: {len(failed)} of {len(entries)} entries of export {export_id} failed: "
            f"{entry_states(entries, failed)}; {hint}",
            operation="wait_for_segment",
            hint=hint,
            entries=entries,
        )


def _warn_of_count(status: SegmentStatus) -> SegmentStatus:
    """Warns if the response reports another number of entries than it has."""
    warn_of_service()
    total, count = status["meta"].get("total") if isinstance(status["meta"], dict) else None, len(status["entries"])
    # A total of another type is the same number.
    if total is not None and str(total).removesuffix(".0") != str(count):
        warn_caller(f"the response reports {_TEXT.repr(total)} entries and has {count}", IncompleteWarning)
    return status


def _warn_of_ends(status: SegmentStatus, line: dict[str, Any] | None = None) -> bool:
    """Warns of entries whose `endTime` is set and no end. Returns whether there are any."""
    entries = status["entries"]
    odd = [entry for entry in entries if entry.get("endTime") is not None and not has_ended(entry)]
    if odd:
        states = entry_states(entries, odd)
        warn_caller(f"an endTime that is no end, so the export counts as running: {states}", IncompleteWarning, line)
    return bool(odd)


def downloaded(response: dict[str, Any], export_id: object) -> SegmentStatus:
    """The status in a response. Warns of what does not fit together."""
    status = _warn_of_count(SegmentStatus(response, export_id))
    _warn_of_ends(status)
    return status


class Wait:
    """A wait for the end of an export: checked arguments, its requests and pauses, and the outcome."""

    def __init__(
        self,
        raw: RawClient,
        export_id: int,
        timeout: object,
        poll: object,
        on_update: OnUpdate | None,
        check: object,
        codes: object,
    ) -> None:
        """Checks the arguments of `wait_for_segment`."""
        self._timeout = positive_seconds("timeout", timeout)
        self._poll = None if poll is None else positive_seconds("poll", poll)
        self._check, self._success = boolean_argument("check", check), success_texts(codes)
        self._raw, self._id, self._on_update, self._line = raw, export_id, on_update, caller()
        self._has_warned = self._is_finished = self.is_over = False
        self._began = self._asked = monotonic()
        self._process = getpid()
        self._pause = _FIRST_PAUSE if self._poll is None else self._poll
        self._failure: DataAccessError | None = None
        self._status: SegmentStatus | None = None
        # The callback of `progress`, and the last response.
        self.report: Callable[[Any], object] | None = None
        self.response: dict[str, Any] | None = None

    @property
    def arguments(self) -> tuple[int, float]:
        """The arguments of the next request: the id and the time that is left."""
        if getpid() != self._process:
            hint = "repeat the call in the child, and do not call os.fork in a callback"
            raise ClientClosedError(f"a call that began before a fork cannot continue after it; {hint}", hint=hint)
        self._asked = monotonic()
        return self._id, max(self._began + self._timeout - self._asked, _LEAST)

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Notes a failure that may pass. A failed first contact is final: it was retried for as long as in a run."""
        self.response, self._failure = None, None
        try:
            yield
        except DataAccessError as error:
            if not error.retryable or (isinstance(error, ConnectError) and not self._raw.was_reached()):
                raise
            self._failure = error.with_traceback(None)

    def updates(self) -> Iterator[tuple[str, Any]]:
        """Passes the response, if one came, to `progress` and `on_update`. Yields the coroutines that they return."""
        if self.response is None:
            return
        self._status = status = SegmentStatus(self.response, self._id, self._success)
        self._has_warned = self._has_warned or _warn_of_ends(status, self._line)
        has_failed = any(state_of(entry, self._success) == "failed" for entry in status["entries"])
        self._is_finished = status.is_finished or (self._check and has_failed)
        callbacks: dict[str, tuple[Any, object]] = {
            "progress": (self.report, self.response),
            "on_update": (self._on_update, status),
        }
        for name, (callback, update) in callbacks.items():
            returned = None if callback is None else callback(update)
            if hasattr(returned, "__await__"):
                yield name, returned

    def pause(self) -> float:
        """The seconds until the next request. If there is none, the wait is over after them."""
        now = monotonic()
        left = max(self._began + self._timeout - now, 0.0)
        # The last request comes just before the end.
        until_last = left - (now - self._asked) - _LAST_POLL
        self.is_over = self._is_finished or until_last <= 0
        if self.is_over:
            return 0.0 if self._is_finished else left
        pause, grown = self._pause, min(self._pause * 1.5, _LONGEST_PAUSE)
        self._pause = grown if self._poll is None else pause
        return min(pause, until_last)

    def progress(self, response: dict[str, Any]) -> Progress:
        """The progress that a response shows."""
        from dataaccess.reports import Progress  # dataclasses take longer to import than all of a client

        entries = response["data"]["entries"]
        states = [state_of(entry, self._success) for entry in entries]
        rows = [entry.get("exportedRows") for entry in entries]
        return Progress(
            unit="entries",
            total=len(entries) or None,
            done=len(entries) - states.count("running"),
            failed=states.count("failed"),
            rows=sum(number for number in rows if isinstance(number, int)),
            seconds=monotonic() - self._began,
        )

    def ended(self) -> SegmentStatus:
        """The status of an export that has ended; with `check`, successfully so far."""
        if self._status is None and self._failure is not None:
            raise self._failure
        status = None if self._status is None else _warn_of_count(self._status)
        entries = [] if status is None else status["entries"]
        if self._is_finished and status is not None:
            if self._check:
                check_entries(self._id, entries, self._success)
            return status
        states, hint = entry_states(entries, entries) or "it has no entries yet", "raise timeout"
        raise WaitTimeoutError(
            f"wait_for_segment: export {self._id} has not ended within {self._timeout:g} s: {states}; {hint}",
            operation="wait_for_segment",
            hint=hint,
            retryable=True,
            last=status,
        )
