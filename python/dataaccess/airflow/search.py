"""Operators of one search: rows to XCom under a limit, or into one file."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator
from airflow.sdk.exceptions import AirflowFailException

from dataaccess.airflow.condition import condition, stated, values
from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.operator import ClientUser
from dataaccess.airflow.output import write
from dataaccess.airflow.storage import located
from dataaccess.airflow.window import days_of_run

if TYPE_CHECKING:
    from collections.abc import Sequence

    from airflow.sdk import Context, ObjectStoragePath

    from dataaccess import Client, Scan
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


class _SearchOperator(ClientUser, BaseOperator):
    """What both operators do with their search."""

    def __init__(
        self,
        *,
        path: str | ObjectStoragePath | None,
        max_xcom_rows: int,
        limit: int | None,
        schema: Schema | None,
        dataaccess_conn_id: str | None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.path = path
        self.max_xcom_rows = max_xcom_rows
        self.limit = limit
        self.schema = schema
        self.dataaccess_conn_id = dataaccess_conn_id

    def execute(self, context: Context) -> list[Row] | dict[str, Any]:
        """Sends the search. Airflow calls it."""
        with without_useless_retries():
            client = self.connect()
            if self.path is None:
                return self._checked(self._scan(client, context, self._xcom_limit()).to_dicts(progress=False))
            target, storage_options = located(self.path, "path")
            scan = self._scan(client, context, self.limit)
            written = write(scan, target, storage_options)
            figures = {"path": written["path"], "rows": scan.last_stats.rows if scan.last_stats else 0} | written
            self.describe_outlets(context, figures)
            return figures

    def _xcom_limit(self) -> int:
        """One row more than XCom may get shows that there are too many, without all of them being transferred."""
        most = self.max_xcom_rows + 1
        return most if self.limit is None else min(self.limit, most)

    def _checked(self, rows: list[Row]) -> list[Row]:
        if len(rows) > self.max_xcom_rows:
            raise AirflowFailException(
                f"the search found more than max_xcom_rows={self.max_xcom_rows} rows, which is much for XCom: "
                "write them into a file with path=, or ask for less"
            )
        return rows

    @abstractmethod
    def _scan(self, client: Client, context: Context, limit: int | None) -> Scan:
        """The search as a scan, which is also what writes files."""


class DataAccessSearchCodesOperator(_SearchOperator):
    """Searches promotion codes. The rows go to XCom, or with `path` into a file.

    All arguments but `max_xcom_rows` and `limit` are templated.

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
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: Arguments of every operator. `Asset`s among `outlets` get `path`, `rows` and `bytes` as metadata.

    Returns:
        To XCom: a list of dicts, with the values as the service sends them; with `path` a dict of `path`, `rows` and
        `bytes`.

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
        dataaccess_conn_id: str | None = DataAccessHook.default_conn_name,
        **options: Any,
    ) -> None:
        """Checks nothing yet: templates are rendered when the task runs."""
        super().__init__(
            path=path,
            max_xcom_rows=max_xcom_rows,
            limit=limit,
            schema=schema,
            dataaccess_conn_id=dataaccess_conn_id,
            **options,
        )
        self.attrs = attrs
        self.allocated_time: Any = stated("allocated_time", allocated_time)
        self.audience_type: Any = stated("audience_type", audience_type)
        self.allocated_audience: Any = stated("allocated_audience", allocated_audience)
        self.code_status: Any = stated("code_status", code_status)

    def _scan(self, client: Client, context: Context, limit: int | None) -> Scan:
        window = condition("allocated_time", self.allocated_time)
        return client.scan_codes(
            self.attrs,
            allocated_time=days_of_run(context, client.timezone) if window is None else window,
            audience_type=values("audience_type", self.audience_type),
            allocated_audience=values("allocated_audience", self.allocated_audience),
            code_status=values("code_status", self.code_status),
            limit=limit,
            schema=self.schema,
        )


class DataAccessSearchItemsOperator(_SearchOperator):
    """Searches the items of a business object. The rows go to XCom, or with `path` into a file.

    All arguments but `max_xcom_rows` and `limit` are templated.

    Args:
        item_type_name: "customer", "promotion_code", or another name with its `item_type_id`.
        attrs: Names of the attributes to return.
        where: An expression of `da.col(name)`, or as text for `da.filters.parse`, such as
            `"col('customer_id').matches({{ params.customers }})"`, or the raw filters `{"OR": [{"AND": […]}]}`.
            None: every record.
        item_type_id: Id of the business object; not needed for customers, promotion codes and the `item_types` in the
            extra of the connection.
        path: As for `DataAccessSearchCodesOperator`.
        max_xcom_rows: The most rows that may go to XCom, which is a database; more are an error without retries.
        limit: Number of rows, at most.
        schema: Column types of the file, as in `Client.scan_items`.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: Arguments of every operator. `Asset`s among `outlets` get `path`, `rows` and `bytes` as metadata.

    Returns:
        To XCom: a list of dicts, with the values as the service sends them; with `path` a dict of `path`, `rows` and
        `bytes`.

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
        dataaccess_conn_id: str | None = DataAccessHook.default_conn_name,
        **options: Any,
    ) -> None:
        """Checks nothing yet: templates are rendered when the task runs."""
        super().__init__(
            path=path,
            max_xcom_rows=max_xcom_rows,
            limit=limit,
            schema=schema,
            dataaccess_conn_id=dataaccess_conn_id,
            **options,
        )
        self.item_type_name = item_type_name
        self.attrs = attrs
        self.where: Any = stated("where", where)
        self.item_type_id = item_type_id

    def _scan(self, client: Client, context: Context, limit: int | None) -> Scan:  # noqa: ARG002 - as the other one
        return client.scan_items(
            self.item_type_name,
            self.attrs,
            condition("where", self.where),
            item_type_id=None if self.item_type_id is None else int(self.item_type_id),
            limit=limit,
            schema=self.schema,
        )
