"""`DataAccessScanRequestOperator`: the operator that is mapped over the requests of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator

from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.operator import ClientUser
from dataaccess.airflow.output import write
from dataaccess.airflow.plan import task_of
from dataaccess.airflow.storage import located

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airflow.sdk import Context, ObjectStoragePath


class DataAccessScanRequestOperator(ClientUser, BaseOperator):
    """Sends one request of a scan and writes its rows into a Parquet file: the operator for dynamic task mapping.

    The mapped tasks of a scan run on as many workers as there are, and each is retried alone. A retry replaces its own
    file, so each row is in the folder once. The rows of one request are held in memory. A folder that
    `DataAccessScanOperator` fills is another kind of folder: give each its own.

    Args:
        request: An element of `scan_requests(scan)`.
        folder: Where the files go: an absolute path on the worker, or a URL or `ObjectStoragePath` such as
            `s3://aws_default@warehouse/codes`, as for `DataAccessScanOperator`. Templated.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: Arguments of every operator. `Asset`s among `outlets` get the returned dict as metadata.

    Returns:
        To XCom: a dict of `path`, `rows` and `bytes`.

    Examples:
        >>> import dataaccess as da
        >>> from airflow.sdk import dag, task
        >>> from dataaccess.airflow import DataAccessHook, scan_requests
        >>> @dag(schedule=None)
        ... def codes():
        ...     @task
        ...     def plan():
        ...         client = DataAccessHook().get_conn()
        ...         return scan_requests(client.scan_codes(allocated_time=da.days("2024-01-15", "2024-01-17")))
        ...
        ...     DataAccessScanRequestOperator.partial(task_id="codes", folder="s3://warehouse/codes").expand(request=plan())
        >>> codes().task_ids
        ['plan', 'codes']
    """

    template_fields: Sequence[str] = ("folder", "request", "dataaccess_conn_id")

    def __init__(
        self,
        *,
        request: Mapping[str, Any],
        folder: str | ObjectStoragePath,
        dataaccess_conn_id: str | None = DataAccessHook.default_conn_name,
        **options: Any,
    ) -> None:
        """Checks nothing yet: the request comes when the task runs."""
        super().__init__(**options)
        self.request = request
        self.folder = folder
        self.dataaccess_conn_id = dataaccess_conn_id

    def execute(self, context: Context) -> dict[str, Any]:
        """Sends the request. Airflow calls it."""
        with without_useless_retries():
            folder, storage_options = located(self.folder)
            table = task_of(self.connect(), self.request).collect()
            target = f"{folder.rstrip('/')}/{self.request['file']}"
            figures = {"rows": table.num_rows, **write(table, target, storage_options)}
            self.describe_outlets(context, figures)
            return figures
