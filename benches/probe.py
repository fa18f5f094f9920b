"""One job in a process of its own, whose highest memory is then the job's.

    python probe.py JOB BASE_URL [REQUESTS [CORES]]

It keeps to these cores of the machine (`0,1`), and prints its rows, its seconds and, where the system reports it, its
highest memory in MB. It imports nothing that its job does not need.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import dataaccess

TOKEN = "t"  # noqa: S105 - any is good


def stream(base_url: str) -> int:
    """Takes all records in batches, and keeps none."""
    import dataaccess as da

    scan = da.Client(base_url, token=TOKEN).scan_codes(allocated_time=da.after("2020-01-01"))
    return sum(batch.num_rows for batch in scan.batches())


def to_pandas(base_url: str) -> int:
    """Makes one frame of all records."""
    import dataaccess as da

    scan = da.Client(base_url, token=TOKEN).scan_codes(allocated_time=da.after("2020-01-01"))
    return len(scan.to_pandas())


def requests_to_pandas(base_url: str) -> int:
    """Makes one frame of all records, by requests."""
    import pandas as pd
    import requests

    answer = requests.post(f"{base_url}/access/api/item/search", data=b"{}", timeout=300).json()
    return len(pd.DataFrame(answer["data"]["data"]))


def scan_of(base_url: str, requests: str, *, ordered: bool = True) -> dataaccess.Scan:
    """A scan of so many requests, whose responses are alike."""
    import dataaccess as da

    ids = [str(number) for number in range(int(requests))]
    client = da.Client(base_url, token=TOKEN)
    return client.scan_codes(
        allocated_time=da.after("2020-01-01"), allocated_audience=ids, values_per_request=1, ordered=ordered
    )


def scan_stream(base_url: str, requests: str) -> dict[str, int]:
    """Takes all records of several requests in batches, and keeps none."""
    return {"rows": sum(batch.num_rows for batch in scan_of(base_url, requests).batches())}


def scan_run(base_url: str, requests: str) -> dict[str, int]:
    """Writes all records of several requests into a folder of Parquet files."""
    import dataaccess as da

    # The responses are alike indeed.
    warnings.simplefilter("ignore", da.IncompleteWarning)
    with tempfile.TemporaryDirectory() as folder:
        report = scan_of(base_url, requests).to_folder(Path(folder) / "run")
        return {"rows": report.rows, "bytes": report.bytes, "file_bytes": report.file_bytes}


def scan_unordered(base_url: str, requests: str) -> dict[str, int]:
    """Takes all records of several requests in batches, in the order in which they come."""
    return {"rows": sum(batch.num_rows for batch in scan_of(base_url, requests, ordered=False).batches())}


def scan_arrow(base_url: str, requests: str) -> dict[str, int]:
    """Makes one table of all records of several requests."""
    return {"rows": len(scan_of(base_url, requests).to_arrow())}


def scan_parquet(base_url: str, requests: str) -> dict[str, int]:
    """Writes all records of several requests into one Parquet file."""
    with tempfile.TemporaryDirectory() as folder:
        scan = scan_of(base_url, requests)
        scan.to_parquet(Path(folder) / "codes.parquet")
        assert scan.last_stats is not None
        return {"rows": scan.last_stats.rows}


def highest_memory() -> float | None:
    """The most memory this process had, in MB."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
    return int(fields["VmHWM"].split()[0]) / 1024


if __name__ == "__main__":
    alone = (stream, to_pandas, requests_to_pandas)
    scans = (scan_stream, scan_unordered, scan_arrow, scan_parquet, scan_run)
    jobs: dict[str, Any] = {job.__name__: job for job in alone + scans}
    job, *arguments = sys.argv[1:]
    if arguments[2:]:
        os.sched_setaffinity(0, map(int, arguments.pop().split(",")))
    started = time.perf_counter()
    met = jobs[job](*arguments)
    reported = met if isinstance(met, dict) else {"rows": met}
    print(json.dumps({**reported, "seconds": time.perf_counter() - started, "memory": highest_memory()}))
