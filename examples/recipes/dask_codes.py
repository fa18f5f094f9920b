"""A scan on the workers of Dask: one task for each request.

    python dask_codes.py [tcp://scheduler:8786]

Reads DATAACCESS_BASE_URL here, and DATAACCESS_TOKEN here and in the workers. Without an address it starts two workers.
"""

import sys

import pandas as pd
from dask.distributed import Client, LocalCluster

import dataaccess as da


def used_by_pool(task: da.Task) -> pd.DataFrame:
    """Count the used codes of one request, in the worker that sends it."""
    codes = task.to_pandas()
    return codes[codes["code_status"] == "used"].groupby("pool_id", as_index=False).size()


def main(scheduler: str | None = None) -> None:
    """Distribute the scan, and add up what the workers found."""
    days = da.days("2024-01-01", "2024-03-01")
    scan = da.scan_codes(["pool_id", "code_status"], allocated_time=days, decode_status=True)
    with Client(scheduler or LocalCluster(n_workers=2, threads_per_worker=1)) as dask:
        counts = dask.gather(dask.map(used_by_pool, scan.tasks()))
    print(pd.concat(counts).groupby("pool_id")["size"].sum())


if __name__ == "__main__":
    main(*sys.argv[1:])
