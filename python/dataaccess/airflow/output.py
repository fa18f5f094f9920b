"""Files of operators: on the worker, or in an object store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dataaccess import Scan
from dataaccess._core.paths import without_query
from dataaccess._public import CLIENT_ZONE
from dataaccess._scan.files import parquet_format, text_format
from dataaccess.airflow.storage import is_remote
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataaccess._core.secret import StorageOptions
    from dataaccess.reports import ScanStats

_LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def write(
    source: Scan,
    target: str,
    options: StorageOptions | None,
    *,
    on_doubt: Callable[[ScanStats], bool] | None = None,
) -> dict[str, object]:
    """Writes the rows into a file by its suffix: Parquet or JSON lines. The file appears only when it is complete.

    Args:
        source: The rows.
        target: The file, as `located` returns it.
        options: How to reach its store.
        on_doubt: Accepts the result of a scan, or raises.

    Returns:
        Its path or URL, and its size in bytes.

    Raises:
        ConfigError: The suffix is another one.
    """
    if not target.endswith((".parquet", *_LINES)):
        raise ConfigError(f"path must end in .parquet, {', '.join(_LINES)}, and {without_query(target)} does not")
    if not is_remote(target):
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    is_parquet = target.endswith(".parquet")
    file_format = parquet_format() if is_parquet else text_format("jsonl", target, "infer")
    # The methods of users do not return the size, which the client alone knows of an object.
    method = "to_parquet" if is_parquet else "to_jsonl"
    size = source._write(target, method, file_format, CLIENT_ZONE, on_doubt or "warn", None, options)
    return {"path": target, "bytes": size}
