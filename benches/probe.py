"""One job in a process of its own, whose highest memory is then the job's: `python probe.py JOB BASE_URL`.

It prints the rows it met and, where the system tells it, the most memory it had, in MB. It imports nothing that
its job does not need.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

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


def highest_memory() -> float | None:
    """The most memory this process had, in MB."""
    status = Path("/proc/self/status")
    if not status.exists():
        return None
    fields = dict(line.split(":", 1) for line in status.read_text(encoding="ascii").splitlines())
    return int(fields["VmHWM"].split()[0]) / 1024


if __name__ == "__main__":
    jobs = {job.__name__: job for job in (stream, to_pandas, requests_to_pandas)}
    print(json.dumps({"rows": jobs[sys.argv[1]](sys.argv[2]), "memory": highest_memory()}))
