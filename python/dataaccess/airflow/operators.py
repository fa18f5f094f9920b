"""Operators of scans and searches: a scan goes into a folder, a search to XCom or into one file."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast

import jinja2

from dataaccess import Client, folder_status
from dataaccess._core.checks import SETTLE, boolean_argument, count, invalid
from dataaccess._core.paths import without_query
from dataaccess._core.secret import StorageOptions
from dataaccess._display.text import counted, shorten
from dataaccess.airflow import compat
from dataaccess.airflow.compat import Context, ObjectStoragePath, exceptions
from dataaccess.airflow.days import RunDays, refresh_since
from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.stores import is_remote, located
from dataaccess.airflow.templates import CONDITIONS, NOT_GIVEN, condition, is_templated, listed, render, stated, values
from dataaccess.errors import ConfigError, DoubtfulDataError, FileError, FolderLockedError, ValidationError
from dataaccess.filters._values import snapshot

if TYPE_CHECKING:
    from airflow.sdk.definitions.mappedoperator import OperatorPartial

    from dataaccess import FolderReport, Scan, _types
    from dataaccess.reports import Progress, ScanStats

_SECONDS_BETWEEN_LOGS = 10
# For a folder that another task uses. In an object store, the lock of a task that was killed lasts for up to 120 s.
_SECONDS_FOR_LOCK = 180
_SECONDS_BETWEEN_TRIES = 5
_SUFFIXES = (".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst")
_ITEMS = ("item_type_name", "item_type_id")
_CODES = ("audience_type", "allocated_audience", "code_status")
_DAY = datetime(2024, 1, 1, tzinfo=UTC)
_ANY_DAY: Any = {"data_interval_start": _DAY, "data_interval_end": _DAY + timedelta(days=1)}


@cache
def _offline() -> Client:
    """A client that sends nothing."""
    return Client("https://localhost", token=str, timezone="UTC")


class ClientOperator(compat.BaseOperator):
    """An operator that uses a client: its end when the task is killed, and the days of the run in templates."""

    dataaccess_conn_id: str | None
    # Number of days before the days of the run.
    lookback: int = 0
    # Of the running task; never part of the serialized DAG.
    _client: Client | None = None
    # The default of `max_active_tis_per_dag` in a mapped task.
    _most_at_once: ClassVar[int | None] = None

    def __init__(self, **options: Any) -> None:
        """Airflow makes the operator of a mapped task while that runs."""
        self._is_mapped = options.pop("is_mapped", False)
        super().__init__(**options)

    @classmethod
    def partial(cls, **arguments: Any) -> OperatorPartial:
        """Begins a mapped task, whose other arguments `.expand` takes."""
        mapped: OperatorPartial = super().partial(**{name: stated(name, value) for name, value in arguments.items()})
        mapped.kwargs.setdefault("max_active_tis_per_dag", cls._most_at_once)
        mapped.kwargs["is_mapped"] = True
        return mapped

    def connect(self) -> Client:
        """Makes the client of this task."""
        self._client = client = DataAccessHook(self.dataaccess_conn_id).get_conn()
        return client

    def on_kill(self) -> None:
        """Ends the requests in flight: the call that waits for them raises `ClientClosedError`."""
        if self._client is not None:
            self._client.close()

    def render_template(
        self,
        content: Any,
        context: Context,
        jinja_env: jinja2.Environment | None = None,
        seen_oids: set[int] | None = None,
    ) -> Any:
        """Renders a template, with the days of the run as `dataaccess`, or resolves the output of a task."""
        if "dataaccess" not in context:

            def timezone() -> str:
                conn_id = self.render_template(self.dataaccess_conn_id, context, jinja_env)
                with without_useless_retries(conn_id):
                    return DataAccessHook(conn_id).get_conn().timezone

            context = cast("Context", {**context, "dataaccess": RunDays(context, timezone, self.lookback)})
        if not isinstance(content, str):
            rendered = super().render_template(content, context, jinja_env, seen_oids)
        elif not is_templated(content) or id(content) in (seen_oids or ()):
            return content
        else:
            # Native rendering would make a number of the id "1e5".
            dag = self.get_dag()
            environment = dag.get_template_env(force_sandboxed=True) if dag else self.get_template_env()
            rendered = render(content, environment, context)
        if content is not None and (rendered is None or (isinstance(rendered, str) and not rendered.strip())):
            raise exceptions.AirflowFailException(f"{content} is {rendered!r}: return a value, or skip this task")
        # Of a mapped task, the sequence of its outputs.
        return snapshot(rendered) if isinstance(rendered, Sequence) and not isinstance(rendered, str) else rendered


class SearchingOperator(ClientOperator):
    """The arguments that a scan and a search have in common."""

    # How the web UI shows arguments. No `template_ext`: every text that ends so would be read as a file.
    template_fields_renderers: ClassVar = {"allocated_time": "py", "where": "py", "attrs": "json", "schema": "json"}
    template_fields: Sequence[str] = ("attrs", *CONDITIONS, *_ITEMS, "schema", "dataaccess_conn_id")
    allocated_time: Any
    where: Any

    def __init__(
        self,
        *,
        attrs: _types.CodeAttributes | None = None,
        allocated_time: _types.TimeCondition | str | None = NOT_GIVEN,
        audience_type: _types.AudienceTypes | None = NOT_GIVEN,
        allocated_audience: _types.ValuesOrOperator | None = NOT_GIVEN,
        code_status: _types.CodeStatuses | None = NOT_GIVEN,
        item_type_name: str | None = None,
        item_type_id: int | str | None = None,
        where: _types.Where | str | None = NOT_GIVEN,
        schema: _types.Schema | None = None,
        decode_status: bool = False,
        on_doubt: Literal["warn", "error"] = "warn",
        fail_on_empty: bool = False,
        dataaccess_conn_id: str | None = DataAccessHook.default_conn_name,
        **options: Any,
    ) -> None:
        """Checks what has no template: templates are rendered when the task runs."""
        super().__init__(**options)
        if on_doubt not in ("warn", "error"):
            raise invalid("on_doubt", 'must be "warn" or "error"', on_doubt)
        conditions = (allocated_time, audience_type, allocated_audience, code_status, where)
        given = dict(zip(CONDITIONS, conditions, strict=True))
        self._are_none = [name for name, value in given.items() if value is None]
        for name, value in given.items():
            setattr(self, name, stated(name, value))
        self.attrs, self.item_type_name, self.item_type_id = attrs, item_type_name, item_type_id
        self.schema, self.decode_status, self.on_doubt = schema, decode_status, on_doubt
        self.fail_on_empty = boolean_argument("fail_on_empty", fail_on_empty)
        self.dataaccess_conn_id = dataaccess_conn_id

    def _check(self, **options: Any) -> None:
        """Refuses wrong arguments at once, if none has a template. The connection may name more objects."""
        with without_useless_retries(None) if self._is_mapped else nullcontext():
            if self._is_mapped and self._are_none:
                raise invalid(self._are_none[0], "is None in this mapped task: map over conditions, or leave it out")
            if any(is_templated(getattr(self, name)) for name in ("attrs", *CONDITIONS, *_ITEMS, "schema")):
                return
            try:
                self._scan(_offline(), _ANY_DAY, **options)
            except ConfigError:
                return  # of the environment, which a task may not share
            except ValidationError as error:
                if problems := [problem for problem in error.problems if problem.argument not in _ITEMS]:
                    raise ValidationError(problems=problems) from None

    def _scan(self, client: Client, context: Context, **options: Any) -> Scan:
        """The scan of the rendered arguments."""
        codes = {name: values(name, getattr(self, name)) for name in _CODES}
        window, where = condition("allocated_time", self.allocated_time), condition("where", self.where)
        attrs, item_type_id = values("attrs", self.attrs), integer("item_type_id", self.item_type_id)
        options["schema"] = listed("schema", self.schema)
        if self.item_type_name is None:
            _refuse({"where": where, "item_type_id": item_type_id}, "is for other items: pass item_type_name")
            if window is None:
                window = condition("allocated_time", RunDays(context, lambda: client.timezone, self.lookback).days)
            return client.scan_codes(attrs, allocated_time=window, decode_status=self.decode_status, **codes, **options)
        _refuse({"allocated_time": window, **codes}, "is for promotion codes: write it into where")
        _refuse({"decode_status": self.decode_status or None}, "is for promotion codes")
        return client.scan_items(self.item_type_name, attrs or (), where, item_type_id=item_type_id, **options)

    def _report(self, context: Context, figures: dict[str, Any]) -> None:
        """Logs one line, a warning if something is in doubt, and adds figures to asset events."""
        days = " to ".join({figures[name]: 0 for name in ("first_day", "last_day") if figures.get(name)})
        place = figures.get("folder", figures.get("path", "XCom"))
        texts = [f"{counted(figures['rows'], 'row')}{days and f' of {days}'} in {place}"]
        doubts = [
            f"{kind}: {shorten(named)}" for kind in ("doubtful", "open") if (named := figures.get(f"{kind}_days"))
        ]
        doubts += figures["warnings"]
        if "new" in figures:
            texts.append(", ".join(f"{figures[name]} {name}" for name in ("new", "kept", "refreshed")))
        self.log.log(logging.WARNING if doubts else logging.INFO, "%s", "; ".join([*texts, *doubts]))
        for outlet in self.outlets:
            if isinstance(outlet, compat.Asset):
                context["outlet_events"][outlet].extra.update(figures)


class DataAccessScanOperator(SearchingOperator):
    """Scans promotion codes, or with `item_type_name` other items, into a folder of Parquet files.

    Each request becomes a file, and a retry of the task requests only what is missing. By default a run requests the
    days of its data interval. So a DAG run per day, and a backfill of a month, fill one folder
    (`day=2024-01-15/part-0.parquet`), which pandas, polars, DuckDB and Spark read as one dataset. A task that is
    cleared requests its days again.

    `folder`, all that is searched for, `schema`, `refresh`, `accept` and `dataaccess_conn_id` are templated. In a
    template, `{{ dataaccess.days }}` is the days of the run.

    A folder belongs to one query, and one task at a time writes into it: Airflow runs no two of this operator's tasks
    of a DAG at once, mapped or not (`max_active_tis_per_dag=1`), unless you set another number.

    Args:
        folder: An absolute path on the worker, or a URL such as `s3://warehouse/codes`. Its store takes credentials
            from the worker's environment, or from an Airflow connection whose id precedes the bucket
            (`s3://aws_default@warehouse/codes`), or for Azure is the `conn_id` of an `ObjectStoragePath`.
        lookback: Number of days before the days of the run that each run requests too. The run requests all of its days
            again although the folder has them, as their statuses may have changed; a retry keeps what the run has.
        refresh: Of the days that the task requests, those to request again although the folder has them. The next four
            are as in `Scan.to_folder` too.
        accept: Days whose data are right although they look wrong.
        settle: How long a day that is over may still change: a timedelta, or days.
        requested_at: Whether files have a column `requested_at`.
        same_service: Whether the folder may have files from another address.
        on_suspected_cap: "warn" or "split", as in `Client.scan_codes`.
        **options: As in `DataAccessSearchOperator`, where `fail_on_empty` is for each day, and arguments of every
            operator. `Asset`s among `outlets` get the returned dict as metadata.

    Returns:
        To XCom: a dict of `folder`, `rows` and `bytes` (of the days of this run, as files), `files`, and of
        them `new`, `kept` and `refreshed`; `first_day` and `last_day` if it asked by day; and what is in doubt, as in
        `FolderReport`: `open_days`, which the next run requests again, `doubtful_days`, `maybe_capped` and `warnings`.

    Examples:
        >>> codes = DataAccessScanOperator(task_id="codes", folder="s3://warehouse/codes", code_status=["sent", "used"])
    """

    template_fields: Sequence[str] = ("folder", *SearchingOperator.template_fields, "refresh", "accept")
    _most_at_once = 1

    def __init__(
        self,
        *,
        folder: str | ObjectStoragePath,
        lookback: int = 0,
        refresh: _types.Refresh | None = None,
        accept: _types.Refresh | None = None,
        settle: float | timedelta = SETTLE,
        requested_at: bool = False,
        same_service: bool = False,
        on_suspected_cap: _types.OnSuspectedCap = "warn",
        max_active_tis_per_dag: int | None = 1,
        **options: Any,
    ) -> None:
        """Checks what has no template: templates are rendered when the task runs."""
        super().__init__(max_active_tis_per_dag=max_active_tis_per_dag, **options)
        self.folder = folder
        has_default = self.item_type_name is None and not self.allocated_time and not self.where
        conditions = f"{self.allocated_time} {self.where}"
        if count("lookback", lookback, least=0) and not has_default and "dataaccess." not in conditions:
            message = "is for the days of the run: write {{ dataaccess.days }} into the condition"
            raise invalid("lookback", message, lookback)
        self.lookback, self.refresh, self.accept = lookback, refresh, accept
        self.settle, self.requested_at, self.same_service = settle, requested_at, same_service
        self.on_suspected_cap = on_suspected_cap
        self._check(on_suspected_cap=on_suspected_cap)

    def execute(self, context: Context) -> dict[str, Any]:
        """Runs what the folder lacks of the scan. Airflow calls it."""
        with without_useless_retries(self.dataaccess_conn_id):
            scan = self._scan(self.connect(), context, on_suspected_cap=self.on_suspected_cap)
            folder, storage_options = located(self.folder)
            given = {name: getattr(self, name) for name in ("settle", "on_doubt", "requested_at", "same_service")}
            given |= {"accept": listed("accept", self.accept), "progress": self._log_progress}
            run = partial(scan.to_folder, folder, **given, storage_options=storage_options)
            report = self._run_unlocked(run, self._refresh(context, scan, folder, storage_options))
            # Only another request can bring rows of a day that an earlier try found without any.
            if self.fail_on_empty and (days := _empty_days(report, "kept")):
                self.log.info("requesting again, as there are no rows: %s", ", ".join(days))
                report = self._run_unlocked(run, days)
            names = ("rows", "new", "kept", "refreshed", "open_days", "doubtful_days", "maybe_capped", "warnings")
            figures = {
                "folder": str(report.folder),
                "bytes": sum(file.bytes for file in report.files),
                "files": len(report.files),
                "first_day": min(report.days, default=None),
                "last_day": max(report.days, default=None),
                **{name: getattr(report, name) for name in names},
            }
            self._report(context, figures)
            if self.fail_on_empty and ((days := _empty_days(report)) or not report.rows):
                of_days = f" of {shorten(days)}" if days else ""
                raise exceptions.AirflowException(f"no rows{of_days}, and fail_on_empty=True")
            return figures

    def _refresh(self, context: Context, scan: Scan, folder: str, storage_options: StorageOptions | None) -> Any:
        """What the task requests although the folder has it."""
        refresh = listed("refresh", self.refresh)
        since = refresh_since(context, self.retries or 0, self.lookback)
        if since is None:
            return refresh
        days = [day for task in scan.tasks() if (day := task._raw.day(0))]
        # A first try needs no look at a folder that may have thousands of files.
        if since > datetime.now(UTC) or not days:
            return "all"
        try:
            files = folder_status(folder, storage_options=storage_options).files
        except FileError:
            # The first try wrote nothing.
            return refresh
        recent = {file.day for file in files if file.requested_at is not None and file.requested_at >= since}
        return [day for day in dict.fromkeys(days) if day not in recent]

    def _run_unlocked(self, run: Callable[..., FolderReport], refresh: Any) -> FolderReport:
        """Runs the scan, once no other task uses its folder."""
        self._logged = time.monotonic()
        deadline = self._logged + _SECONDS_FOR_LOCK
        while True:
            try:
                return run(refresh=refresh)
            except FolderLockedError as error:
                if (left := deadline - time.monotonic()) <= 0:
                    raise
                self.log.info("waiting up to %.0f s: %s", left, error)
                time.sleep(min(_SECONDS_BETWEEN_TRIES, left))

    def _log_progress(self, now: Progress) -> None:
        if time.monotonic() - self._logged >= _SECONDS_BETWEEN_LOGS:
            self._logged = time.monotonic()
            self.log.info("%s of %s requests done, %s rows, %s failed", now.done, now.total, now.rows, now.failed)


class DataAccessSearchOperator(SearchingOperator):
    """Searches promotion codes, or with `item_type_name` other items. The rows go to XCom, or with `path` into a file.

    All that is searched for, `path`, `schema` and `dataaccess_conn_id` are templated.

    Args:
        path: A file that ends in `.parquet`, `.jsonl`, `.jsonl.gz` or `.jsonl.zst`, as `folder` of
            `DataAccessScanOperator`. It is replaced when it is complete.
        max_xcom_rows: The most rows that may go to XCom, which is a database; more are an error without retries.
        limit: Number of rows, at most.
        **options: What follows, and arguments of every operator. `Asset`s among `outlets` get the figures as metadata.
        attrs, audience_type, allocated_audience, code_status: As in `Client.search_codes`.
        allocated_time: As in `Client.search_codes`, or as text for `da.filters.parse`, such as
            `"days('{{ params.start }}', '{{ params.stop }}')"`; by default the days that ended in the data interval of
            the run, in the time zone of the connection.
        item_type_name: Another business object than promotion codes, such as "customer".
        item_type_id: Its id, as in `Client.search_items`.
        where: Its conditions: an expression of `da.col(name)`, or as text for `da.filters.parse`, such as
            `"col('customer_id').matches({{ params.customers }})"`, or the raw filters `{"OR": [{"AND": […]}]}`. For the
            days of the run write `"col('opened').on({{ dataaccess.days }})"`.
        schema, decode_status: As in `Client.scan_codes`, for files. Rows in XCom keep the numbers.
        on_doubt: "warn", or "error": the task fails if something is in doubt, and its files are as before.
        fail_on_empty: Whether a result without rows fails the task. Each try searches again, so `retries` and
            `retry_delay` say how long to wait for late rows.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.

    Returns:
        To XCom: a list of dicts, with the values as the service sends them, and under the key `figures` the figures;
        with `path` the figures: a dict of `path`, `rows`, and what is in doubt: `maybe_capped` and `warnings`.

    Examples:
        >>> on_day = "on('{{ params.day }}')"
        >>> used = DataAccessSearchOperator(task_id="used", attrs=["id"], allocated_time=on_day, code_status="used")
    """

    template_fields: Sequence[str] = (*SearchingOperator.template_fields, "path")

    def __init__(
        self,
        *,
        path: str | ObjectStoragePath | None = None,
        max_xcom_rows: int = 1_000,
        limit: int | None = None,
        **options: Any,
    ) -> None:
        """Checks what has no template: templates are rendered when the task runs."""
        super().__init__(**options)
        self.path, self.max_xcom_rows, self.limit = path, max_xcom_rows, limit
        self._check(limit=limit)

    def execute(self, context: Context) -> list[_types.Row] | dict[str, Any]:
        """Sends the search. Airflow calls it."""
        with without_useless_retries(self.dataaccess_conn_id):
            client = self.connect()
            return self._to_xcom(context, client) if self.path is None else self._to_file(context, client, self.path)

    def _to_xcom(self, context: Context, client: Client) -> list[_types.Row]:
        # One row more than XCom may get shows that there are too many.
        most = self.max_xcom_rows + 1
        scan = self._scan(client, context, limit=most if self.limit is None else min(self.limit, most))
        rows = scan.to_dicts(progress=False)
        if len(rows) > self.max_xcom_rows:
            raise exceptions.AirflowFailException(
                f"the search found more than max_xcom_rows={self.max_xcom_rows} rows, which is much for XCom: "
                "write them into a file with path, or ask for less"
            )
        figures = self._accepted(cast("ScanStats", scan.last_stats))
        self._report(context, figures)
        if "ti" in context and self.do_xcom_push:  # Not in a process that the task has forked.
            context["ti"].xcom_push(key="figures", value=figures)
        return rows

    def _to_file(self, context: Context, client: Client, path: str | ObjectStoragePath) -> dict[str, Any]:
        target, storage_options = located(path, "path")
        if not target.endswith(_SUFFIXES):
            raise ConfigError(f"path must end in {', '.join(_SUFFIXES)}, and {without_query(target)} does not")
        if not is_remote(target):
            Path(target).parent.mkdir(parents=True, exist_ok=True)
        scan = self._scan(client, context, limit=self.limit)
        write = scan.to_parquet if target.endswith(".parquet") else scan.to_jsonl
        write(target, on_doubt=lambda stats: bool(self._accepted(stats)), storage_options=storage_options)
        figures = {"path": target, **self._accepted(cast("ScanStats", scan.last_stats))}
        self._report(context, figures)
        return figures

    def _accepted(self, stats: ScanStats) -> dict[str, Any]:
        """The figures of a result, before it replaces anything. It may look wrong, or lack rows that it must have."""
        if self.on_doubt == "error" and stats.warnings:
            raise DoubtfulDataError("; ".join(stats.warnings))
        if self.fail_on_empty and not stats.rows:
            raise exceptions.AirflowException("no rows, and fail_on_empty=True")
        return {"rows": stats.rows, "maybe_capped": stats.maybe_capped, "warnings": stats.warnings}


def _empty_days(report: FolderReport, state: str | None = None) -> list[str]:
    """The days without rows; with a state, only the days with a file in this state."""
    with_rows = {file.day for file in report.files if file.rows}
    empty = [file for file in report.files if file.day not in with_rows and state in (None, file.state)]
    return list(dict.fromkeys(file.day for file in empty if file.day is not None))


def integer(argument: str, value: Any) -> Any:
    """The integer of a rendered text, or None."""
    try:
        return None if value is None else int(value)
    except (TypeError, ValueError):
        raise invalid(argument, "must be an integer", value) from None


def _refuse(arguments: dict[str, object], reason: str) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise invalid(name, reason, value)
