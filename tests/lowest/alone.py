"""Uses one extra in an environment that has no other: the extra installs all that it needs.

The workflow `nightly` runs it for each extra, with the lowest versions that the extra allows.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import dataaccess as da

COLUMNS = {"id", "code_status", "allocated_time"}


def use_pandas(scan: da.Scan) -> None:
    """A DataFrame with each of its backends."""
    for backend in (None, "numpy_nullable", "pyarrow"):
        assert set(scan.to_pandas(dtype_backend=backend)) == COLUMNS


def use_polars(scan: da.Scan) -> None:
    """A DataFrame, and a lazy one that narrows the request."""
    import polars as pl

    assert set(scan.to_polars().columns) == COLUMNS
    used = scan.to_lazyframe().filter(pl.col("code_status") == 4).collect()
    assert len(used) > 0


def use_arrow(scan: da.Scan) -> None:
    """A table, and the batches of a reader."""
    import pyarrow as pa

    assert set(scan.to_arrow().column_names) == COLUMNS
    assert pa.RecordBatchReader.from_stream(scan).read_all().num_rows > 0


def use_cli(scan: da.Scan) -> None:
    """The command."""
    command = [sys.executable, "-m", "dataaccess", "codes", "--on", "2024-01-15", "--format", "csv"]
    ended = subprocess.run(
        command,
        env=os.environ | {"DATAACCESS_BASE_URL": "sandbox:demo?until=2024-02-29"},
        capture_output=True,
        check=True,
    )
    assert len(ended.stdout.splitlines()) == len(scan.to_dicts()) + 1


def use_progress(scan: da.Scan) -> None:
    """A bar."""
    with contextlib.redirect_stderr(io.StringIO()) as written:
        scan.to_dicts(progress=True)
    assert "rows/s" in written.getvalue()


USES: dict[str, Callable[[Any], None]] = {
    name.removeprefix("use_"): use for name, use in list(globals().items()) if name.startswith("use_")
}


def main() -> None:
    """Uses the extra that the command names."""
    (extra,) = sys.argv[1:]
    warnings.simplefilter("ignore", da.SandboxWarning)
    scan = da.Client("sandbox:demo?until=2024-02-29").scan_codes(sorted(COLUMNS), allocated_time=da.on("2024-01-15"))
    USES[extra](scan)
    print(f"the extra {extra} works alone")


if __name__ == "__main__":
    main()
