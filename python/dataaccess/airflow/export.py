"""What the sensor and its trigger do with the responses of an export: whether it has ended, and what the log says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess._client.segment import check_entries, entry_state, entry_states, has_ended

if TYPE_CHECKING:
    from collections.abc import Collection

    from dataaccess._client.segment import SegmentStatus
    from dataaccess.errors import DataAccessError


class ExportWatch:
    """Follows an export from one request to the next. Logs each entry whose state has changed."""

    def __init__(self, export_id: int, success: Collection[str], log: Any, *, check: bool) -> None:
        """Takes the codes of success, with which `check` compares the entries."""
        self._export_id, self._success, self._log, self._check = export_id, success, log, check
        self._status: SegmentStatus | None = None
        self._states: list[str] = []
        self._failure: DataAccessError | None = None

    def has_ended(self, status: SegmentStatus) -> bool:
        """Whether there are entries and each of them has an `endTime`.

        Raises:
            SegmentExportError: An entry failed, and `check` is set.
        """
        before, self._states = self._states, [entry_state(entry) for entry in status["entries"]]
        if not self._states and self._status is None:
            self._log.info("export %s has no entries yet", self._export_id)
        self._status, self._failure = status, None
        for index, state in enumerate(self._states):
            if before[index : index + 1] != [state]:
                self._log.info("export %s: entry %s %s", self._export_id, index + 1, state)
        if self._check:
            check_entries(self._export_id, status["entries"], self._success)
        return status.is_finished

    def is_outage(self, error: DataAccessError) -> bool:
        """Whether a failure says nothing about the export, so that a later request may succeed. Logs it then."""
        if error.retryable:
            self._failure = error
            self._log.warning("export %s: trying again after %s: %s", self._export_id, type(error).__name__, error)
        return error.retryable

    @property
    def unfinished(self) -> str:
        """Which entries are open, for the error of a time-out."""
        entries = [] if self._status is None else self._status["entries"]
        states = entry_states(entries, [entry for entry in entries if not has_ended(entry)])
        known = states or ("there was no response" if self._status is None else "it has no entries yet")
        failure = "" if self._failure is None else f"; the last request failed: {self._failure}"
        return f"Export {self._export_id} has not ended: {known}{failure}"
