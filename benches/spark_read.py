"""The data source for Spark beside this client alone: 300,000 codes of 60 days, in seconds, on `local[2]`.

    PYTHONPATH=tests/python target/envs/spark/bin/python benches/spark_read.py [--codes N] [--days N] [--rounds N]

Each round runs the client and two actions of Spark, one after the other, and checks the rows of each, their ids and the
requests. Prints a line of JSON for each: the least and the median wall time, and the least CPU time of all processes.
These include the service, which costs each the same.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
from engines import FIRST, codes
from support.spark_cluster import LOCAL

import dataaccess as da

_TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds() -> float:
    """Of this process and of all below it, with those that have ended."""
    return sum(_used(pid) for pid in _tree(os.getpid()))


def _tree(pid: int) -> Iterator[int]:
    yield pid
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in path.read_text().split():
            yield from _tree(int(child))


def _used(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(int(ticks) for ticks in fields[11:15]) / _TICKS


def session(service: da.Sandbox) -> Any:
    """A session of two cores, as users start it."""
    from pyspark.sql import SparkSession

    os.environ |= {**LOCAL, "DATAACCESS_BASE_URL": service.base_url, "DATAACCESS_TOKEN": service.issue_token(["item"])}
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    return builder.config("spark.log.level", "ERROR").config("spark.ui.showConsoleProgress", "false").getOrCreate()


def main() -> None:
    """Run the rounds and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--codes", type=int, default=300_000)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    warnings.simplefilter("ignore", da.DataAccessWarning)
    days = da.days(FIRST, FIRST + dt.timedelta(days=given.days))
    expected = {f"code-{number:09}" for number in range(given.codes)}

    def check(rows: int, ids: pa.ChunkedArray[Any] | None) -> None:
        if rows != given.codes or (ids is not None and set(ids.to_pylist()) != expected):
            raise SystemExit(f"{rows} rows, or other ids than the service has")

    with da.Sandbox() as service:
        service.load("promotion_code", codes(given.codes, given.days))
        spark = session(service)
        client = da.Client(service.base_url, concurrency=2)
        frame = spark.read.format("dataaccess").option("allocated_time", repr(days)).load()

        def alone() -> pa.Table:
            table: pa.Table = client.scan_codes(allocated_time=days).to_arrow()
            return table

        actions: dict[str, Callable[[], Any]] = {"client": alone, "count": frame.count, "toArrow": frame.toArrow}
        walls: dict[str, list[float]] = {name: [] for name in actions}
        cpus: dict[str, list[float]] = {name: [] for name in actions}
        # The first round starts Spark's processes, and is no figure.
        for number in range(given.rounds + 1):
            for name, action in actions.items():
                service.clear_requests()
                began, used = time.monotonic(), cpu_seconds()
                found = action()
                wall, cpu = time.monotonic() - began, cpu_seconds() - used
                check(found, None) if name == "count" else check(found.num_rows, found["id"])
                if len(service.requests) != given.days:
                    raise SystemExit(f"{len(service.requests)} requests, not {given.days}")
                if number:
                    walls[name].append(wall)
                    cpus[name].append(cpu)
        spark.stop()
    for name in actions:
        least, cpu = min(walls[name]), min(cpus[name])
        figures = {"median": statistics.median(walls[name]), "least": least, "cpu": cpu}
        ratios = {"of_client": least / min(walls["client"]), "cpu_of_client": cpu / min(cpus["client"])}
        print(json.dumps({"read": name, **{key: round(value, 2) for key, value in {**figures, **ratios}.items()}}))


if __name__ == "__main__":
    main()
