"""Operators of one search: rows to XCom under a limit, or into one file."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from dataaccess._core.checks import invalid
from dataaccess.airflow.arguments import SearchingOperator
from dataaccess.airflow.compat import AirflowFailException
from dataaccess.airflow.condition import condition, item_type_id, stated, values
from dataaccess.airflow.figures import log_figures, of_stats
from dataaccess.airflow.output import write
from dataaccess.airflow.storage import located
from dataaccess.airflow.window import days_of_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airflow.sdk import Context, ObjectStoragePath

    from dataaccess import Client, Scan
    from dataaccess._core.secret import StorageOptions
    from dataaccess._types import (
        AudienceTypes,
        CodeAttributes,
        CodeStatuses,
        Row,
        Schema,
        TimeCondition,
        ValuesOrOperator,
        Where,
    )
    from dataaccess.reports import ScanStats


class _SearchOperator(SearchingOperator):
    """What both operators do with their search."""

    def __init__(
        self,
        *,
        path: str | ObjectStoragePath | None,
        max_xcom_rows: int,
        limit: int | None,
        schema: Schema | None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        for name, most in {"limit": limit, "max_xcom_rows": max_xcom_rows if path is None else None}.items():
            if most is not None and (self.min_rows or 0) > most:
                raise invalid("min_rows", f"is more than {name}={most}, so each run would fail", self.min_rows)
        self.path = path
        self.max_xcom_rows = max_xcom_rows
        self.limit = limit
        self.schema = schema

    def execute(self, context: Context) -> list[Row] | dict[str, Any]:
        """Sends the search. Airflow calls it."""
        with self.without_useless_retries():
            client = self.connect()
            if self.path is None:
                return self._to_xcom(context, self._scan(client, context, self._xcom_limit()))
            target, storage_options = located(self.path, "path")
            return self._to_file(context, self._scan(client, context, self.limit), target, storage_options)

    def _to_xcom(self, context: Context, scan: Scan) -> list[Row]:
        rows = scan.to_dicts(progress=False)
        if len(rows) > self.max_xcom_rows:
            raise AirflowFailException(
                f"the search found more than max_xcom_rows={self.max_xcom_rows} rows, which is much for XCom: "
                "write them into a file with path=, or ask for less"
            )
        if scan.last_stats is not None:
            figures = of_stats(scan.last_stats)
            log_figures(self.log, figures)
            self.accept_result(scan.last_stats)
            if "ti" in context and self.do_xcom_push:  # Not in a process that the task has forked.
                context["ti"].xcom_push(key="figures", value=figures)
            self.describe_outlets(context, figures)
        return rows

    def _to_file(
        self, context: Context, scan: Scan, target: str, storage_options: StorageOptions | None
    ) -> dict[str, Any]:
        of_rows: dict[str, Any] = {}

        def accept(stats: ScanStats) -> bool:
            of_rows.update(of_stats(stats))
            return self.accept_result(stats)

        written = write(scan, target, storage_options, on_doubt=accept)
        figures = {**written, **of_rows}
        log_figures(self.log, figures)
        self.describe_outlets(context, figures)
        return figures

    def _xcom_limit(self) -> int:
        """One row more than XCom may get shows that there are too many, without all of them being transferred."""
        most = self.max_xcom_rows + 1
        return most if self.limit is None else min(self.limit, most)

    @abstractmethod
    def _scan(self, client: Client, context: Context, limit: int | None) -> Scan:
        """The search as a scan, which is also what writes files."""


class DataAccessSearchCodesOperator(_SearchOperator):
    """Searches promotion codes. The rows go to XCom, or with `path` into a file.

    The conditions, `attrs`, `path`, `schema` and `dataaccess_conn_id` are templated.

    Args:
        attrs: Names of the attributes to return, of `da.PROMOTION_CODE_ATTRIBUTES`; None is all but `channel_id`.
        allocated_time: As in `Client.search_codes`, or as text for `da.filters.parse`, such as
            `"on('{{ params.day }}')"`; None: the days that ended in the data interval of the run, in the time zone of
            the connection.
        audience_type: -1003 or "customer", -1007 or "visitor", or several. It needs `allocated_audience`.
        allocated_audience: One id of a customer or visitor, or several.
        code_status: 1 or "available", 3 or "sent", 4 or "used", or several.
        path: A file that ends in `.parquet`, `.jsonl`, `.jsonl.gz` or `.jsonl.zst`: an absolute path on the worker, or
            a URL or `ObjectStoragePath` such as `s3://aws_default@warehouse/codes.parquet`, as for `folder` of
            `DataAccessScanOperator`. It is replaced when it is complete.
        max_xcom_rows: The most rows that may go to XCom, which is a database; more are an error without retries.
        limit: Number of rows, at most.
        schema: Column types of the file, as in `Client.scan_codes`.
        known_row_cap: As in `Client`, in place of the connection's.
        decode_status: As in `Client.scan_codes`, for the file. Rows in XCom keep the numbers.
        attrs_format: As in `Client`, in place of the connection's.
        timeout: As in `Client`, in place of the connection's: seconds, or a timedelta.
        on_doubt: "warn", or "error": the task fails if something is in doubt, and the file is as before.
        min_rows: The fewest rows; fewer fail the task, and the file is as before. Each try searches again, so `retries`
            and `retry_delay` say how long to wait for late rows.
        fail_on_empty: Whether a result without rows fails the task, likewise.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: `retry_permission_denied` (whether Airflow retries a task whose token was refused), and arguments of
            every operator. `Asset`s among `outlets` get the figures as metadata.

    Returns:
        To XCom: a list of dicts, with the values as the service sends them, and under the key `figures` the figures;
        with `path` the figures: a dict of `path`, `rows`, `bytes`, and what is in doubt: `maybe_capped` and
        `warnings`.

    Examples:
        >>> import dataaccess as da
        >>> used = DataAccessSearchCodesOperator(
        ...     task_id="used", attrs=["id"], allocated_time="on('{{ params.day }}')", code_status="used"
        ... )
    """

    template_fields: Sequence[str] = (
        "attrs",
        "allocated_time",
        "audience_type",
        "allocated_audience",
        "code_status",
        "path",
        "schema",
        "dataaccess_conn_id",
    )

    def __init__(
        self,
        *,
        attrs: CodeAttributes | None = None,
        allocated_time: TimeCondition | str | None = None,
        audience_type: AudienceTypes | None = None,
        allocated_audience: ValuesOrOperator | None = None,
        code_status: CodeStatuses | None = None,
        path: str | ObjectStoragePath | None = None,
        max_xcom_rows: int = 1_000,
        limit: int | None = None,
        schema: Schema | None = None,
        decode_status: bool = False,
        **options: Any,
    ) -> None:
        """Checks nothing yet: templates are rendered when the task runs."""
        super().__init__(
            path=path,
            max_xcom_rows=max_xcom_rows,
            limit=limit,
            schema=schema,
            **options,
        )
        self.attrs = attrs
        self.allocated_time: Any = stated("allocated_time", allocated_time)
        self.audience_type: Any = stated("audience_type", audience_type)
        self.allocated_audience: Any = stated("allocated_audience", allocated_audience)
        self.code_status: Any = stated("code_status", code_status)
        self.decode_status = decode_status

    def _scan(self, client: Client, context: Context, limit: int | None) -> Scan:
        window = condition("allocated_time", self.allocated_time)
        return client.scan_codes(
            values("attrs", self.attrs),
            allocated_time=days_of_run(context, client.timezone) if window is None else window,
            audience_type=values("audience_type", self.audience_type),
            allocated_audience=values("allocated_audience", self.allocated_audience),
            code_status=values("code_status", self.code_status),
            limit=limit,
            schema=self.schema,
            decode_status=self.decode_status,
        )


class DataAccessSearchItemsOperator(_SearchOperator):
    """Searches the items of a business object. The rows go to XCom, or with `path` into a file.

    The conditions, `attrs`, `path`, `schema` and `dataaccess_conn_id` are templated.

    Args:
        item_type_name: "customer", "promotion_code", or another name with its `item_type_id`.
        attrs: Names of the attributes to return.
        where: An expression of `da.col(name)`, or as text for `da.filters.parse`, such as
            `"col('customer_id').matches({{ params.customers }})"`, or the raw filters `{"OR": [{"AND": […]}]}`.
            None: no condition.
        item_type_id: Id of the business object; not needed for customers, promotion codes and the `item_types` in the
            extra of the connection.
        path: As for `DataAccessSearchCodesOperator`.
        max_xcom_rows: The most rows that may go to XCom, which is a database; more are an error without retries.
        limit: Number of rows, at most.
        schema: Column types of the file, as in `Client.scan_items`.
        known_row_cap: As in `Client`, in place of the connection's.
        attrs_format: As in `Client`, in place of the connection's.
        timeout: As in `Client`, in place of the connection's: seconds, or a timedelta.
        on_doubt: "warn", or "error": the task fails if something is in doubt, and the file is as before.
        min_rows: The fewest rows; fewer fail the task, and the file is as before. Each try searches again, so `retries`
            and `retry_delay` say how long to wait for late rows.
        fail_on_empty: Whether a result without rows fails the task, likewise.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: `retry_permission_denied` (whether Airflow retries a task whose token was refused), and arguments of
            every operator. `Asset`s among `outlets` get the figures as metadata.

    Returns:
        To XCom: a list of dicts, with the values as the service sends them, and under the key `figures` the figures;
        with `path` the figures: a dict of `path`, `rows`, `bytes`, and what is in doubt: `maybe_capped` and
        `warnings`.

    Examples:
        >>> import dataaccess as da
        >>> customers = DataAccessSearchItemsOperator(
        ...     task_id="customers",
        ...     item_type_name="customer",
        ...     attrs=["customer_id", "name"],
        ...     where="col('customer_id').matches({{ params.customers }})",
        ... )
    """

    template_fields: Sequence[str] = (
        "item_type_name",
        "attrs",
        "where",
        "item_type_id",
        "path",
        "schema",
        "dataaccess_conn_id",
    )

    def __init__(
        self,
        *,
        item_type_name: str,
        attrs: Sequence[str],
        where: Where | str | None = None,
        item_type_id: int | str | None = None,
        path: str | ObjectStoragePath | None = None,
        max_xcom_rows: int = 1_000,
        limit: int | None = None,
        schema: Schema | None = None,
        **options: Any,
    ) -> None:
        """Checks nothing yet: templates are rendered when the task runs."""
        super().__init__(
            path=path,
            max_xcom_rows=max_xcom_rows,
            limit=limit,
            schema=schema,
            **options,
        )
        self.item_type_name = item_type_name
        self.attrs = attrs
        self.where: Any = stated("where", where)
        self.item_type_id = item_type_id

    def _scan(self, client: Client, context: Context, limit: int | None) -> Scan:
        return client.scan_items(
            self.item_type_name,
            values("attrs", self.attrs),
            condition("where", self.where),
            item_type_id=item_type_id(self.item_type_id),
            limit=limit,
            schema=self.schema,
        )
