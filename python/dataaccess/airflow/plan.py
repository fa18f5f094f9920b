"""The requests of a scan as values that XCom takes, and the tasks that these become again."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataaccess import Task
from dataaccess._core.checks import invalid
from dataaccess._core.paths import object_names
from dataaccess.airflow.storage import is_remote
from dataaccess.errors import ConfigError, FolderError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dataaccess import Client, Scan
    from dataaccess._core.secret import StorageOptions

# The parts of a pickled task behind its client, by name: JSON that XCom takes.
_PARTS = ("call", "body", "schema", "id", "splits")
_DAY = len("2024-01-15")
# Hexadecimal digits of a query in the names of its files.
_DIGITS = 12


def scan_requests(scan: Scan) -> list[dict[str, Any]]:
    """Returns the requests of a scan as values for `.expand`: one mapped task each. Sends nothing.

    They hold the conditions of the scan, never the token. Airflow maps over 1,024 values at most, unless
    `[core] max_map_length` says otherwise, and takes about a second for each: let a request find many rows.

    Args:
        scan: A scan of several requests: by days, or with a long list of values.

    Returns:
        A list of dicts, for `DataAccessScanRequestOperator` or `DataAccessHook.scan_task`. `file` is the name of the
        file of the request: `day=2024-01-15/part-0-8f14e45fceea.parquet` in a scan by days, else
        `part-00000-8f14e45fceea.parquet`. The digits are the same for the same query: attributes, types, time zones,
        and filters, but no days in a scan by days.

    Raises:
        ValidationError: The scan has a limit, or columns whose types are inferred: each file would have its own.

    Examples:
        >>> import dataaccess as da
        >>> client = da.Client("sandbox:demo?until=2024-02-29")
        >>> scan = client.scan_codes(allocated_time=da.days("2024-01-15", "2024-01-17"))
        >>> [request["file"] for request in scan_requests(scan)]
        ['day=2024-01-15/part-0-...parquet', 'day=2024-01-16/part-0-...parquet']
    """
    inferred = [name for name, kind in scan.schema.items() if kind == "inferred"]
    if inferred:
        message = f"each task would infer its own types of {', '.join(inferred)}: set schema of the scan"
        raise invalid("scan", message, inferred)
    query = _digest(scan)
    requests, of_day = [], Counter[str]()
    for index, task in enumerate(scan.tasks()):
        _, (_, *parts) = task.__reduce__()
        day = day_of(task)
        name = f"part-{index:05}" if day is None else f"day={day}/part-{of_day[day]}"
        of_day[str(day)] += 1
        requests.append({"file": f"{name}-{query}.parquet", **dict(zip(_PARTS, parts, strict=True))})
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
    return Task._from_body(client, *(request[part] for part in _PARTS))


def refuse_other_files(folder: str, storage_options: StorageOptions | None, request: Mapping[str, Any]) -> None:
    """Refuses a folder with files of another query, which readers would take for rows of this one.

    Raises:
        FolderError: It has such files.
    """
    ending = str(request["file"]).rpartition("-")[2]
    for name in _names(folder, storage_options):
        is_hidden = any(part.startswith((".", "_")) for part in name.split("/"))
        if not is_hidden and not name.endswith(f"-{ending}"):
            raise FolderError(
                f"{folder} has the file {name}, which is not of this query: name another folder, such as one with "
                "{{ run_id }}, or remove its files",
                reason="mismatch",
            )


def _names(folder: str, storage_options: StorageOptions | None) -> list[str]:
    """The files below a folder, by their names from there on."""
    if is_remote(folder):
        return object_names(folder, storage_options)
    return [path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file()]


def _digest(scan: Scan) -> str:
    query = json.dumps([scan._raw.query, scan.schema], sort_keys=True)
    return hashlib.sha256(query.encode()).hexdigest()[:_DIGITS]
