"""`DataAccessScanOperator`: a scan into a folder, which a retry of the task goes on with."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from dataaccess import folder_status
from dataaccess._core.checks import SETTLE, duration, invalid
from dataaccess.airflow.arguments import SearchingOperator
from dataaccess.airflow.condition import condition, item_type_id, stated, values
from dataaccess.airflow.figures import log_figures, of_report
from dataaccess.airflow.plan import day_of
from dataaccess.airflow.storage import located
from dataaccess.airflow.window import checked_lookback, days_of_run, refresh_since
from dataaccess.errors import FileError, FolderLockedError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import timedelta

    from airflow.sdk import Context, ObjectStoragePath
    from airflow.sdk.definitions.mappedoperator import OperatorPartial

    from dataaccess import Client, FolderReport, Scan
    from dataaccess._core.secret import StorageOptions
    from dataaccess._types import (
        AudienceTypes,
        CodeAttributes,
        CodeStatuses,
        OnSuspectedCap,
        Refresh,
        Schema,
        TimeCondition,
        ValuesOrOperator,
        Where,
    )
    from dataaccess.reports import Progress

_SECONDS_BETWEEN_LOGS = 10
_SECONDS_BETWEEN_TRIES = 5


class DataAccessScanOperator(SearchingOperator):
    """Scans promotion codes, or with `item_type_name` other items, into a folder of Parquet files.

    Resumable: each request becomes a file of its own, and a retry of the task requests only what is missing. By default
    a run requests the days of its data interval. So a DAG run per day, and a backfill of a month, fill one folder
    (`day=2024-01-15/part-0.parquet`), which pandas, polars, DuckDB and Spark read as one dataset.

    The arguments from `folder` to `refresh` but `lookback`, and `dataaccess_conn_id`, are templated. In a template,
    `{{ dataaccess.days }}` is the days of the run. A task that is cleared requests its days again.

    One task at a time writes into a folder: Airflow runs no two of this operator's tasks of a DAG at once, mapped or
    not (`max_active_tis_per_dag=1`), unless you set another number. A folder belongs to one query.

    Args:
        folder: An absolute path on the worker, or a URL such as `s3://warehouse/codes`. Its store takes credentials
            from the worker's environment, or from an Airflow connection whose id precedes the bucket
            (`s3://aws_default@warehouse/codes`), or for Azure is the `conn_id` of an `ObjectStoragePath`.
        attrs: Names of the attributes to return; None is all of promotion codes but `channel_id`.
        allocated_time: As in `Client.scan_codes`, or as text for `da.filters.parse`, such as
            `"days('{{ params.start }}', '{{ params.stop }}')"`; None: the days that ended in the data interval of the
            run, in the time zone of the connection. Promotion codes only.
        audience_type: As in `Client.scan_codes`.
        allocated_audience: As in `Client.scan_codes`.
        code_status: As in `Client.scan_codes`.
        item_type_name: Another business object than promotion codes, such as "customer".
        item_type_id: Its id, as in `Client.scan_items`.
        where: Its conditions, as in `Client.scan_items`. For the days of the run write
            `"col('opened').on({{ dataaccess.days }})"`.
        schema: Column types, as in `Client.scan_codes`.
        lookback: Number of days before those of the run that each run requests too. The run requests all of its days
            again although the folder has them, as their statuses may have changed; a retry keeps what the run has.
        refresh: Days to request again although the folder has them, as in `Scan.to_folder`: of the days that the task
            requests. With `lookback` they all are.
        accept: Days whose data are right although they look wrong, as in `Scan.to_folder`.
        settle: How long a day that is over may still change: a timedelta, or days, as in `Scan.to_folder`.
        on_doubt: "warn" or "error", as in `Scan.to_folder`.
        requested_at: Whether files have a column `requested_at`, as in `Scan.to_folder`.
        same_service: Whether the folder may have files from another address, as in `Scan.to_folder`.
        on_suspected_cap: "warn" or "split", as in `Client.scan_codes`.
        lock_timeout: Seconds to wait for a folder that another task uses. In an object store, the lock of a task that
            was killed lasts for up to 120 s.
        known_row_cap: As in `Client`, in place of the connection's. Without it the days of the run are compared with
            the other days of the folder.
        decode_status: As in `Client.scan_codes`. Promotion codes only.
        attrs_format: As in `Client`, in place of the connection's.
        timeout: As in `Client`, in place of the connection's: seconds, or a timedelta, for each request.
        min_rows: The fewest rows of the days of the run together; fewer fail the task. Each try requests the days
            again, also those that the folder has, so `retries` and `retry_delay` say how long to wait for late rows.
        fail_on_empty: Whether a day without rows fails the task, likewise. In a scan without days, no rows at all do.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: `retry_permission_denied` (whether Airflow retries a task whose token was refused), and arguments of
            every operator. `Asset`s among `outlets` get the returned dict as metadata.

    Returns:
        To XCom: a dict of `folder`, `rows` and `bytes` (of the days of this run, as files), `files`, and of
        them `new`, `kept` and `refreshed`; `first_day` and `last_day` if it asked by day; and what is in doubt, by the
        names of `FolderReport`: `open_days`, which the next run requests again, `doubtful_days`, `maybe_capped` and
        `warnings`.

    Examples:
        >>> codes = DataAccessScanOperator(task_id="codes", folder="s3://warehouse/codes", code_status=["sent", "used"])
    """

    template_fields: Sequence[str] = (
        "folder",
        "attrs",
        "allocated_time",
        "audience_type",
        "allocated_audience",
        "code_status",
        "item_type_name",
        "item_type_id",
        "where",
        "schema",
        "refresh",
        "accept",
        "dataaccess_conn_id",
    )

    def __init__(
        self,
        *,
        folder: str | ObjectStoragePath,
        attrs: CodeAttributes | None = None,
        allocated_time: TimeCondition | str | None = None,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        item_type_name: str | None = None,
        item_type_id: int | str | None = None,
        where: Where | str | None = None,
        schema: Schema | None = None,
        decode_status: bool = False,
        lookback: int = 0,
        refresh: Refresh | None = None,
        accept: Refresh | None = None,
        settle: float | timedelta = SETTLE,
        requested_at: bool = False,
        same_service: bool = False,
        on_suspected_cap: OnSuspectedCap = "warn",
        lock_timeout: float = 180,
        max_active_tis_per_dag: int | None = 1,
        **options: Any,
    ) -> None:
        """Checks only what a template cannot change: templates are rendered when the task runs."""
        super().__init__(max_active_tis_per_dag=max_active_tis_per_dag, **options)
        self.folder = folder
        self.attrs = attrs
        self.allocated_time: Any = stated("allocated_time", allocated_time)
        self.audience_type: Any = stated("audience_type", audience_type)
        self.allocated_audience: Any = stated("allocated_audience", allocated_audience)
        self.code_status: Any = stated("code_status", code_status)
        self.item_type_name = item_type_name
        self.item_type_id = item_type_id
        self.where: Any = stated("where", where)
        self.schema = schema
        self.decode_status = decode_status
        self.lookback: int = checked_lookback(lookback, item_type_name, self.allocated_time, self.where)
        self.refresh = refresh
        self.accept = accept
        self.settle = settle
        self.requested_at = requested_at
        self.same_service = same_service
        self.on_suspected_cap = on_suspected_cap
        self.lock_timeout: float = duration("lock_timeout", lock_timeout)

    @classmethod
    def partial(cls, **arguments: Any) -> OperatorPartial:
        """As of every operator, with this one's `max_active_tis_per_dag`, which Airflow takes from no signature."""
        mapped: OperatorPartial = super().partial(**arguments)
        mapped.kwargs.setdefault("max_active_tis_per_dag", 1)
        return mapped

    def execute(self, context: Context) -> dict[str, Any]:
        """Runs what the folder lacks of the scan. Airflow calls it."""
        with self.without_useless_retries():
            scan = self._scan(self.connect(), context)
            folder, storage_options = located(self.folder)
            refresh = self._refresh(context, scan, folder, storage_options)
            report = self._run_unlocked(scan, folder, storage_options, refresh)
            if days := self.required_rows.days_to_repeat(report):
                self.log.info("requesting again, as there are too few rows: %s", ", ".join(days))
                report = self._run_unlocked(scan, folder, storage_options, days)
            figures = of_report(report)
            log_figures(self.log, figures)
            self.required_rows.check_report(report)
            self.describe_outlets(context, figures)
            return figures

    def _scan(self, client: Client, context: Context) -> Scan:
        shared: dict[str, Any] = {
            "schema": self.schema,
            "on_suspected_cap": self.on_suspected_cap,
        }
        codes: dict[str, Any] = {
            "audience_type": values("audience_type", self.audience_type),
            "allocated_audience": values("allocated_audience", self.allocated_audience),
            "code_status": values("code_status", self.code_status),
        }
        items: dict[str, Any] = {
            "where": condition("where", self.where),
            "item_type_id": item_type_id(self.item_type_id),
        }
        if self.item_type_name is None:
            _refuse(items, "is for other items: pass item_type_name=")
            window = condition("allocated_time", self.allocated_time)
            window = days_of_run(context, client.timezone, self.lookback) if window is None else window
            codes["decode_status"] = self.decode_status
            return client.scan_codes(values("attrs", self.attrs), allocated_time=window, **codes, **shared)
        _refuse({"allocated_time": self.allocated_time, **codes}, "is for promotion codes: write it into where=")
        _refuse({"decode_status": self.decode_status or None}, "is for promotion codes")
        return client.scan_items(self.item_type_name, values("attrs", self.attrs) or (), **items, **shared)

    def _refresh(self, context: Context, scan: Scan, folder: str, storage_options: StorageOptions | None) -> Any:
        since = refresh_since(context, self.retries or 0, self.lookback)
        if since is None:
            return self.refresh
        days = dict.fromkeys(map(day_of, scan.tasks()))
        if since > datetime.now(UTC) or None in days:
            return "all"
        try:
            files = folder_status(folder, storage_options=storage_options).files
        except FileError:
            # The first try wrote nothing.
            return self.refresh
        recent = {file.day for file in files if file.requested_at is not None and file.requested_at >= since}
        return [day for day in days if day not in recent]

    def _run_unlocked(
        self, scan: Scan, folder: str, storage_options: StorageOptions | None, refresh: Any
    ) -> FolderReport:
        """Runs the scan, once no other task uses its folder."""
        deadline = time.monotonic() + self.lock_timeout
        while True:
            try:
                return scan.to_folder(
                    folder,
                    refresh=refresh,
                    accept=self.accept,
                    settle=self.settle,
                    on_doubt=self.on_doubt,
                    requested_at=self.requested_at,
                    same_service=self.same_service,
                    progress=self._log_progress(),
                    storage_options=storage_options,
                )
            except FolderLockedError as error:
                if time.monotonic() >= deadline:
                    raise
                self.log.info("waiting up to %.0f s: %s", deadline - time.monotonic(), error)
                time.sleep(min(_SECONDS_BETWEEN_TRIES, max(deadline - time.monotonic(), 0)))

    def _log_progress(self) -> Any:
        last = time.monotonic()

        def log(now: Progress) -> None:
            nonlocal last
            if time.monotonic() - last >= _SECONDS_BETWEEN_LOGS:
                last = time.monotonic()
                self.log.info("%s of %s requests done, %s rows, %s failed", now.done, now.total, now.rows, now.failed)

        return log


def _refuse(arguments: dict[str, object], reason: str) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise invalid(name, reason, value)
