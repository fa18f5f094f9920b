"""The requests of a scan as values that XCom takes, and the tasks that these become again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from dataaccess import Task
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

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
        A list of dicts, for `DataAccessScanRequestOperator` or `DataAccessHook.scan_task`. `file` is the name of the
        file of the request: `day=2024-01-15/part-0.parquet` in a scan by days, else `part-00000.parquet`.

    Raises:
        ValidationError: The scan has a limit.

    Examples:
        >>> import dataaccess as da
        >>> scan = da.Client("sandbox:demo").scan_codes(allocated_time=da.days("2024-01-15", "2024-01-17"))
        >>> [request["file"] for request in scan_requests(scan)]
        ['day=2024-01-15/part-0.parquet', 'day=2024-01-16/part-0.parquet']
    """
    requests, of_day = [], Counter[str]()
    for index, task in enumerate(scan.tasks()):
        _, (_, *parts) = task.__reduce__()
        day = day_of(task)
        name = f"part-{index:05}.parquet" if day is None else f"day={day}/part-{of_day[day]}.parquet"
        of_day[str(day)] += 1
        requests.append({"file": name, **dict(zip(_PARTS, parts, strict=True))})
    return requests


def day_of(task: Task) -> str | None:
    """The day that a task asks for; None in a scan without days."""
    return task.id[:_DAY] if task.id.count("-") > 1 else None


def task_of(client: Client, request: Mapping[str, Any]) -> Task:
    """The task of a request.

    Raises:
        ConfigError: It is not a value of `scan_requests`.
    """
    if not isinstance(request, dict) or not request.keys() >= set(_PARTS):
        raise ConfigError(f"request must be an element of scan_requests(scan), not of type {type(request).__name__}")
    return Task._from_body(client, *(request[part] for part in _PARTS))  # noqa: SLF001 - as its pickle does
