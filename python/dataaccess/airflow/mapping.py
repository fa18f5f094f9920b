"""`DataAccessScanRequestOperator`: the operator that is mapped over the requests of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess.airflow.compat import ObjectStoragePath
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.operator import ClientOperator
from dataaccess.airflow.output import write
from dataaccess.airflow.plan import task_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airflow.sdk import Context


class DataAccessScanRequestOperator(ClientOperator):
    """Sends one request of a scan and writes its rows into a Parquet file: the operator for dynamic task mapping.

    The mapped tasks of a scan run on as many workers as there are, and each is retried alone. A retry replaces its own
    file, so each row is in the folder once. The rows of one request are held in memory. A folder that
    `DataAccessScanOperator` fills is another kind of folder: give each its own.

    Args:
        request: An element of `scan_requests(scan)`.
        folder: Where the files go: a path on the worker, or a URL or `ObjectStoragePath` such as
            `s3://aws_default@warehouse/codes`. Templated.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: `retry_permission_denied` (whether Airflow retries a task whose token was refused), and arguments of
            every operator. `Asset`s among `outlets` get the returned dict as metadata.

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
        with self.without_useless_retries():
            table = task_of(self.connect(), self.request).collect()
            folder = self.folder if isinstance(self.folder, ObjectStoragePath) else ObjectStoragePath(self.folder)
            figures = {"rows": table.num_rows, **write(table, folder / self.request["file"])}
            self.describe_outlets(context, figures)
            return figures
