"""`DataAccessScanRequestOperator`: the operator that is mapped over the requests of a scan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dataaccess.airflow.arguments import RequestingOperator
from dataaccess.airflow.figures import log_figures, of_stats
from dataaccess.airflow.output import write
from dataaccess.airflow.plan import refuse_other_files, task_of
from dataaccess.airflow.storage import located

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airflow.sdk import Context, ObjectStoragePath

    from dataaccess.reports import ScanStats


class DataAccessScanRequestOperator(RequestingOperator):
    """Sends one request of a scan and writes its rows into a Parquet file: the operator for dynamic task mapping.

    The mapped tasks of a scan run on as many workers as there are, and each is retried alone. A retry replaces its own
    file, so each row is in the folder once. The rows of one request are held in memory.

    A folder belongs to one query, as the names of its files show: a task fails without retries if the folder has a file
    of another query, also of a longer list of values, or of `DataAccessScanOperator`.

    Args:
        request: An element of `scan_requests(scan)`.
        folder: Where the files go: an absolute path on the worker, or a URL or `ObjectStoragePath` such as
            `s3://aws_default@warehouse/codes`, as for `DataAccessScanOperator`. Templated.
        known_row_cap: As in `Client.scan_codes`, in place of the one of the scan.
        timeout: As in `Client.scan_codes`, in place of the one of the scan: seconds.
        on_doubt: "warn", or "error": the task fails if something is in doubt, and writes no file.
        min_rows: The fewest rows; fewer fail the task, which writes no file. Each try sends the request again.
        fail_on_empty: Whether a response without rows fails the task, likewise.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: `retry_permission_denied` (whether Airflow retries a task whose token was refused), and arguments of
            every operator. `Asset`s among `outlets` get the returned dict as metadata.

    Returns:
        To XCom: a dict of `path`, `rows`, `bytes`, and what is in doubt in this response: `maybe_capped` and
        `warnings`. Responses of other tasks are not compared.

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
        **options: Any,
    ) -> None:
        """Checks nothing yet: the request comes when the task runs."""
        super().__init__(**options)
        self.request = request
        self.folder = folder

    def execute(self, context: Context) -> dict[str, Any]:
        """Sends the request. Airflow calls it."""
        with self.without_useless_retries():
            folder, storage_options = located(self.folder)
            task = task_of(self.connect(), self.request)
            refuse_other_files(folder, storage_options, self.request)
            target = f"{folder.rstrip('/')}/{self.request['file']}"
            of_rows: dict[str, Any] = {}

            def accept(stats: ScanStats) -> bool:
                of_rows.update(of_stats(stats))
                return self.accept_result(stats)

            written = write(task, target, storage_options, on_doubt=accept)
            figures = {**of_rows, **written}
            log_figures(self.log, figures)
            self.describe_outlets(context, figures)
            return figures
