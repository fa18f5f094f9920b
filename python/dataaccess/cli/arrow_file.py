"""Arrow IPC: a file that appears only when it is complete, or a stream to standard output. Needs pyarrow."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

import click

from dataaccess.cli import output
from dataaccess.cli.progress import line

if TYPE_CHECKING:
    from dataaccess import Scan

# What a file of its own gets: the umask decides about the rest.
_USUAL = 0o666


def write(scan: Scan, file: str | None, *, private: bool) -> None:
    """Writes the rows batch by batch. A file can be read at any place; standard output gets a stream, once complete."""
    from dataaccess._scan.output import copy_into

    if file is not None and "://" in file:
        raise click.UsageError(
            f"--output {file!r}: Arrow is written to this machine only; Parquet to object stores too"
        )
    path = None if file is None else Path(file).expanduser()
    folder = None if path is None else path.parent
    with NamedTemporaryFile(dir=folder, prefix=".dataaccess-", delete=False) as temporary:
        made = Path(temporary.name)
        try:
            _write_batches(scan, temporary, "new_stream" if file is None else "new_file")
            if path is None:
                with output.binary_stdout() as stdout:
                    copy_into(stdout, made)
                return
            if not private:
                made.chmod(_USUAL & ~_umask())
            made.replace(path)
        finally:
            made.unlink(missing_ok=True)


def _write_batches(scan: Scan, file: Any, form: str) -> None:
    from dataaccess._core.optional import optional

    arrow, ipc = optional("pyarrow", "arrow"), optional("pyarrow.ipc", "arrow")
    with line() as shown, getattr(ipc, form)(file, arrow.schema(scan)) as writer:
        rows = 0
        for batch in scan.batches():
            writer.write_batch(batch.to_arrow())
            rows += len(batch)
            if shown is not None:
                shown.show(f"{rows:,} rows")
    file.flush()
    os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
