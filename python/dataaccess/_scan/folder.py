"""Runs of a scan into a folder: their options, progress and reports, and what a folder holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dataaccess import errors
from dataaccess._core.checks import boolean_argument, choice, settle_seconds
from dataaccess._core.log import log_run
from dataaccess._core.paths import location
from dataaccess._core.secret import checked
from dataaccess._display.text import counted, open_text
from dataaccess._scan.doubts import TaskDoubt
from dataaccess._scan.outcome import progress_of, warn_of
from dataaccess.filters import parse

if TYPE_CHECKING:
    from typing import Any, Self, TypeAlias

    from dataaccess._core.secret import StorageOptions
    from dataaccess._scan.outcome import ScanClient
    from dataaccess.reports import FolderReport, Progress

    # The report, how many tasks are done, those that failed, and the error that ended the run.
    RunResult: TypeAlias = tuple[
        dict[str, Any], int, list[tuple[str, str | None, errors.DataAccessError]], errors.DataAccessError | None
    ]

# Days that an error names.
_NAMED = 5


def run_options(
    client: ScanClient,
    folder: object,
    storage_options: StorageOptions | None,
    *,
    settle: object,
    refresh: object,
    accept: object,
    on_doubt: TaskDoubt,
    **switches: object,
) -> dict[str, Any]:
    """The checked options of a run, as the core takes them."""
    switches = {name: boolean_argument(name, switch) for name, switch in switches.items()}
    return {
        "folder": location("folder", folder, storage_options),
        "storage_options": checked(storage_options),
        "service": service_of(client),
        "settle": settle_seconds(settle),
        "refresh": _days_of(refresh),
        "accept": _days_of(accept),
        "on_doubt": on_doubt.of_core,
        **switches,
    }


def _days_of(given: object) -> object:
    """Days as the core takes them: those that are written as text are read."""
    if isinstance(given, str):
        if "(" not in given:
            return given
        try:
            return parse(given)
        except ValueError:
            # The core names the forms.
            return given
    return [_days_of(one) for one in given] if isinstance(given, (list, tuple)) else given


def read_options(
    folder: object, storage_options: StorageOptions | None, missing: object
) -> tuple[str, bool, StorageOptions | None]:
    """The checked arguments of `read_folder`, as the core takes them."""
    is_ignored = choice("missing", missing, ("raise", "ignore")) == "ignore"
    place = location("folder", folder, storage_options)
    return place, is_ignored, checked(storage_options)


def service_of(client: ScanClient) -> tuple[str, bool]:
    """The address of the service, or its name if it is `sandbox:demo`, and whether it is known to be a sandbox."""
    return client._settings.sandbox or client.base_url, client._settings.is_sandbox


class RunProgress:
    """Makes the progress of a run of the plain values of the core.

    If Ctrl-C ends its block, or asyncio cancels it, a note of the exception says what is kept.
    """

    def __init__(self, client: ScanClient, options: dict[str, Any]) -> None:
        """A run that begins now."""
        self._convert, self._options = progress_of(client), options
        self._last: Progress | None = None

    def __call__(self, update: dict[str, Any]) -> Progress:
        """The progress of an update."""
        before, self._last = self._last, self._convert(update)
        self._log(before, self._last, update["ended"])
        return self._last

    def _log(self, before: Progress | None, now: Progress, ended: dict[str, Any] | None) -> None:
        """Logs the beginning, and each task that ended."""
        folder, day = self._options["folder"], now.day or "a task"
        fields: dict[str, Any] = {"folder": folder, "done": now.done, "tasks": now.total, "failed": now.failed}
        if before is None or ended is None:
            log_run(f"run of {folder}: {counted(now.total or 0, 'task')}, {now.done:,} kept", fields)
            return
        fields |= {"day": now.day, "rows": now.rows - before.rows, "seconds": ended["seconds"]}
        if ended["reason"] is not None:
            log_run(f"{day} failed: {ended['reason']}", fields, is_doubt=True)
        else:
            done = f"{counted(fields['rows'], 'row')} in {ended['seconds']:.1f} s"
            log_run(f"{day} done with {done}: {now.done:,} of {now.total:,} tasks", fields)

    def __enter__(self) -> Self:
        """The same."""
        return self

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        """Adds the note."""
        if error is not None and not isinstance(error, Exception) and self._last is not None:
            # Others may have ended since.
            kept = f"at least {self._last.done:,} of {counted(self._last.total or 0, 'task')}"
            error.add_note(f"{kept} are kept in {self._options['folder']}; run the same line again")


def report_of(
    options: dict[str, Any],
    result: RunResult,
    on_doubt: TaskDoubt,
) -> FolderReport:
    """The report of a run. Warns of what is doubtful in the data.

    Raises:
        ScanIncompleteError: Tasks failed.
        DoubtfulDataError: The data of all tasks together look wrong, and doubts are errors.
        DataAccessError: An error ended the run. It has the report too.
    """
    from dataaccess.reports import FolderReport  # as in `stats_of`

    on_doubt.raise_again()
    outcome, done, failed, ended = result
    report = FolderReport._of(outcome, options["folder"])
    _log_end(report, len(failed), ended)
    if ended is not None:
        ended.report = report
        try:
            warn_of(outcome)
        finally:
            # Also where warnings are errors.
            raise ended
    if failed:
        _, _, first = failed[0]
        days = list(dict.fromkeys(day for _, day, _ in failed if day))
        named = f" ({', '.join(days[:_NAMED])}{', …' if len(days) > _NAMED else ''})" if days else ""
        retryable = any(error.retryable for _, _, error in failed)
        how = "failed" if retryable else "failed permanently"
        again = "run it again to resume with the others" if retryable else "fix the cause, then run it again"
        kept = f", and {done} are kept in {report.folder}: {again}"
        count = f"{len(failed)} of {len(failed) + done} tasks"
        incomplete = errors.ScanIncompleteError(
            f"{count} {how}{named}{kept if done else ''}. The first: {first}",
            operation=first.operation,
            retryable=retryable,
            failed={name: error for name, _, error in failed},
            report=report,
        )
        try:
            warn_of(outcome)
        finally:
            # Also where warnings are errors.
            raise incomplete from first
    if on_doubt.is_error and report.warnings:
        doubtful = errors.DoubtfulDataError("; ".join(report.warnings))
        doubtful.report = report
        raise doubtful
    warn_of(outcome)
    return report


def _log_end(report: FolderReport, failed: int, ended: errors.DataAccessError | None) -> None:
    """Logs each doubt, and how the run ended."""
    fields = {
        "folder": str(report.folder),
        "rows": report.rows,
        "failed": failed,
        "open_days": report.open_days,
        "doubtful_days": report.doubtful_days,
    }
    for warning in report.warnings:
        log_run(warning, fields, is_doubt=True)
    texts = [
        str(report).partition("\n")[0],
        *([open_text(report.open_days)] if report.open_days else []),
        *([f"{counted(failed, 'task')} failed"] if failed else []),
        *([f"ended by {ended}"] if ended is not None else []),
    ]
    log_run("; ".join(texts), fields, is_doubt=bool(failed or ended))
