"""Arrow IPC: a file that appears only when it is complete, or a stream to standard output. Needs pyarrow."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from dataaccess.cli import output

if TYPE_CHECKING:
    from collections.abc import Callable

    from dataaccess import Scan
    from dataaccess.reports import ScanProgress

# What a file of its own gets: the umask decides about the rest.
_USUAL = 0o666


def write(
    scan: Scan, file: str | None, *, private: bool, on_progress: Callable[[ScanProgress], object] | None
) -> None:
    """Writes the rows. A file can be read at any place (`pyarrow.ipc.open_file`), standard output is a stream."""
    from dataaccess._core.optional import optional

    arrow = optional("pyarrow", "arrow")
    ipc = optional("pyarrow.ipc", "arrow")
    table = scan.to_arrow(on_progress=on_progress)
    if file is None:
        with output.binary_stdout() as stdout, ipc.new_stream(arrow.PythonFile(stdout, "w"), table.schema) as writer:
            writer.write_table(table)
        return
    path = Path(file).expanduser()
    with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}-", delete=False) as temporary:
        try:
            _write_file(ipc, temporary, table)
            if not private:
                Path(temporary.name).chmod(_USUAL & ~_umask())
            Path(temporary.name).replace(path)
        except BaseException:
            Path(temporary.name).unlink()
            raise


def _write_file(ipc: Any, file: Any, table: Any) -> None:
    with ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    file.flush()
    os.fsync(file.fileno())


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
