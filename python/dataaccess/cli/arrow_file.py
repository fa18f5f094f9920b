"""Arrow IPC: a file that appears only when it is complete, or a stream to standard output. Needs pyarrow."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

from dataaccess.cli import output
from dataaccess.cli.complete_file import appearing
from dataaccess.cli.progress import retries_shown

if TYPE_CHECKING:
    from dataaccess import Scan
    from dataaccess.cli.doubts import Doubts


def write(scan: Scan, file: str | None, judge: Doubts) -> None:
    """Writes the rows batch by batch. A file can be read at any place; standard output gets a stream, once complete."""
    if file is not None:
        with appearing(Path(file)) as opened:
            _write_batches(scan, opened, "new_file", judge)
        return
    with TemporaryFile() as complete:
        _write_batches(scan, complete, "new_stream", judge)
        complete.seek(0)
        with output.binary_stdout() as stdout:
            copyfileobj(complete, stdout)


def _write_batches(scan: Scan, file: Any, form: str, judge: Doubts) -> None:
    from dataaccess._core.checks import optional  # loads the core

    arrow, ipc = optional("pyarrow"), optional("pyarrow.ipc")
    with retries_shown(), scan.batches() as batches:
        schema = arrow.schema(batches._raw)
        rows = 0
        with getattr(ipc, form)(file, schema) as writer:
            for batch in batches:
                writer.write_batch(batch.to_arrow().cast(schema))
                rows += len(batch)
    judge.check_rows(rows)
