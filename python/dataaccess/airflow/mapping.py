"""Dynamic task mapping: the requests of a scan as values of `.expand`, and the operator that is mapped over them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseOperator, ObjectStoragePath

from dataaccess import Task
from dataaccess.airflow.failures import without_useless_retries
from dataaccess.airflow.hook import DataAccessHook
from dataaccess.airflow.operator import ClientUser
from dataaccess.airflow.output import write
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from airflow.sdk import Context

    from dataaccess import Client, Scan

# The parts of a pickled task behind its client, by name: JSON that XCom takes.
_PARTS = ("call", "body", "schema", "id", "timeout", "known_row_cap", "splits")
_DAY = len("2024-01-15")


def scan_requests(scan: Scan) -> list[dict[str, Any]]:
    """Returns the requests of a scan as values for `.expand`: one mapped task each. Sends nothing.

    They hold the conditions of the scan, never the token. Airflow maps over 1,024 values at most, unless
    `[core] max_map_length` says otherwise, and takes about a second for each: let a request find many rows.

    Args:
        scan: A scan of several requests: by days, or with a long list of values.

    Returns:
        A list of dicts, for `ScanRequestOperator` or `DataAccessHook.scan_task`. `file` is the name of the file of the
        request: `day=2024-01-15/part-0.parquet` in a scan by days, else `part-00000.parquet`.

    Raises:
        ValidationError: The scan has a limit.

    Example:
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo").scan_codes(allocated_time=da.days("2024-01-15", "2024-01-17"))
        >>> [request["file"] for request in scan_requests(scan)]
        ['day=2024-01-15/part-0.parquet', 'day=2024-01-16/part-0.parquet']
    """
    requests, of_day = [], Counter[str]()
    for index, task in enumerate(scan.tasks()):
        _, (_, *parts) = task.__reduce__()
        day = task.id[:_DAY] if task.id.count("-") > 1 else None
        name = f"part-{index:05}.parquet" if day is None else f"day={day}/part-{of_day[day]}.parquet"
        of_day[str(day)] += 1
        requests.append({"file": name, **dict(zip(_PARTS, parts, strict=True))})
    return requests


def task_of(client: Client, request: Mapping[str, Any]) -> Task:
    """The task of a request.

    Raises:
        ConfigError: It is not a value of `scan_requests`.
    """
    if not isinstance(request, dict) or not request.keys() >= set(_PARTS):
        raise ConfigError(f"request must be an element of scan_requests(scan), not of type {type(request).__name__}")
    return Task._from_body(client, *(request[part] for part in _PARTS))  # noqa: SLF001 - as its pickle does


class ScanRequestOperator(ClientUser, BaseOperator):
    """Sends one request of a scan and writes its rows into a Parquet file: the operator for dynamic task mapping.

    The mapped tasks of a scan run on as many workers as there are, and each is retried alone. A retry replaces its own
    file, so each row is in the folder once. The rows of one request are held in memory. A folder that `ScanOperator`
    fills is another kind of folder: give each its own.

    Args:
        request: An element of `scan_requests(scan)`.
        folder: Where the files go: a path on the worker, or a URL or `ObjectStoragePath` such as
            `s3://aws_default@warehouse/codes`. Templated.
        dataaccess_conn_id: Id of the connection; None: everything from the worker's environment.
        **options: Arguments of every operator. `Asset`s among `outlets` get the returned dict as metadata.

    Returns:
        To XCom: a dict of `path`, `rows` and `bytes`.

    Example:
        >>> import dataaccess as da
        >>> from airflow.sdk import dag, task
        >>> @dag(schedule=None)
        ... def codes():
        ...     @task
        ...     def plan():
        ...         client = DataAccessHook().get_conn()
        ...         return scan_requests(client.scan_codes(allocated_time=da.days("2024-01-15", "2024-01-17")))
        ...
        ...     ScanRequestOperator.partial(task_id="codes", folder="s3://warehouse/codes").expand(request=plan())
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
            table = task_of(self.connect(), self.request).collect()
            folder = self.folder if isinstance(self.folder, ObjectStoragePath) else ObjectStoragePath(self.folder)
            figures = {"rows": table.num_rows, **write(table, folder / self.request["file"])}
            self.describe_outlets(context, figures)
            return figures
