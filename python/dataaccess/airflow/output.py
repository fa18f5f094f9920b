"""Files of operators: on the worker, or in any object store of `ObjectStoragePath`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from airflow.sdk import ObjectStoragePath

from dataaccess import Scan
from dataaccess.errors import ConfigError

if TYPE_CHECKING:
    from dataaccess import Table

_LOCAL = ("", "file", "local")
_LINES = (".jsonl", ".jsonl.gz", ".jsonl.zst")


def write(source: Scan | Table, path: str | ObjectStoragePath, **options: Any) -> dict[str, object]:
    """Writes the rows into a file by its suffix: Parquet or JSON lines. The file appears only when it is complete.

    Args:
        source: The rows.
        path: The file.
        **options: Arguments of `Scan.to_parquet`.

    Returns:
        Its path and size in bytes.

    Raises:
        ConfigError: The suffix is another one, or `private` is for an object store.
    """
    target = path if isinstance(path, ObjectStoragePath) else ObjectStoragePath(path)
    suffix = "".join(Path(target.name).suffixes[-2:])
    if not suffix.endswith((".parquet", *_LINES)):
        raise ConfigError(f"path must end in .parquet, {', '.join(_LINES)}, and {target} does not")
    if target.protocol in _LOCAL:
        local = Path(target.path)
        local.parent.mkdir(parents=True, exist_ok=True)
        _write_local(source, local, options)
        return {"path": str(target), "bytes": local.stat().st_size}
    if options.get("private"):
        raise ConfigError(f"private is for files on the worker, and {target} is in a store, whose access is its own")
    with tempfile.TemporaryDirectory() as folder:
        local = Path(folder, target.name)
        _write_local(source, local, options)
        # Stores show an object once its upload is complete.
        target.fs.put_file(str(local), target.path)
        return {"path": str(target), "bytes": local.stat().st_size}


def _write_local(source: Scan | Table, path: Path, options: dict[str, Any]) -> None:
    if isinstance(source, Scan) and path.suffix != ".parquet":
        source.to_jsonl(path, **options)
    else:
        # The file of a table is always Parquet.
        source.to_parquet(path, **options)
