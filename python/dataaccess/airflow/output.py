"""Files of operators: on the worker, or in an object store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dataaccess import Scan
from dataaccess._core.storage import hidden
from dataaccess._public import CLIENT_ZONE
from dataaccess._scan.output import parquet_format, text_format
from dataaccess.airflow.storage import is_remote
from dataaccess.errors import ConfigError
from dataaccess.errors._text import argument

if TYPE_CHECKING:
    from dataaccess import Table

_LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def write(source: Scan | Table, target: str, options: dict[str, str] | None) -> dict[str, object]:
    """Writes the rows into a file by its suffix: Parquet or JSON lines. The file appears only when it is complete.

    Args:
        source: The rows.
        target: The file, as `located` returns it.
        options: How to reach its store.

    Returns:
        Its path or URL, and its size in bytes.

    Raises:
        ConfigError: The suffix is another one.
    """
    if not target.endswith((".parquet", *_LINES)):
        raise ConfigError(f"{argument('path')} must end in .parquet, {', '.join(_LINES)}, and {target} does not")
    if not is_remote(target):
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    is_parquet = target.endswith(".parquet")
    file_format = parquet_format() if is_parquet else text_format("jsonl", target, "infer")
    arguments: dict[str, Any] = {"private": False, "storage_options": hidden(options)}
    if isinstance(source, Scan):
        arguments |= {"tz": CLIENT_ZONE, "on_doubt": "warn", "progress": None}
    # The methods of users do not return the size, which the client alone knows of an object.
    size = source._write(target, "to_parquet" if is_parquet else "to_jsonl", file_format, **arguments)  # noqa: SLF001
    return {"path": target, "bytes": size}
