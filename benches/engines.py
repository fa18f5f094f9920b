"""A scan of daily partitions under Spark, Dask, Airflow and this client alone: rows a second with 1 and with 2 workers.

    PYTHONPATH=tests/python python benches/engines.py spark [--codes N] [--days N] [--workers N …] [--latency SECONDS]
    PYTHONPATH=tests/airflow python benches/engines.py airflow [--python PYTHON] […]

`make bench-engines` runs all of them, with the wheel.

Each writes Parquet files, and each result is checked: as many rows as there are codes, every id once, every day
requested once, the token in no log. Spark runs on a standalone cluster of this machine, and its program is the example.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import dataaccess as da

FIRST = dt.date(2024, 1, 1)
ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "recipes" / "spark_codes.py"
DAGS = ROOT / "benches" / "airflow_dags"
AIRFLOW_PYTHON = ROOT / "target" / "envs" / "airflow" / "bin" / "python"
_MOST_SECONDS = 900


@dataclass(frozen=True)
class Job:
    """What to run: days, workers, and the service with its token."""

    days: int
    workers: int
    base_url: str
    token: str
    folder: Path
    airflow_python: str

    @property
    def stop(self) -> dt.date:
        """The day after the last one."""
        return FIRST + dt.timedelta(days=self.days)

    def scan(self) -> da.Scan:
        """The scan of all codes."""
        client = da.Client(self.base_url, concurrency=self.workers)
        return client.scan_codes(allocated_time=da.days(FIRST, self.stop))


def codes(count: int, days: int) -> pa.Table:
    """Codes with all attributes, a few less each day: equal numbers of rows would look capped."""
    start = int(dt.datetime.combine(FIRST, dt.time(), dt.UTC).timestamp())
    seconds = [start + int(86_400 * days * (number / count) ** 1.05) for number in range(count)]
    times = pa.array(seconds, pa.timestamp("s"))
    numbers = range(count)
    return pa.table(
        {
            "id": [f"code-{number:09}" for number in numbers],
            "name": [f"WELCOME-{number:09}" for number in numbers],
            "pool_id": [901 + number % 7 for number in numbers],
            "date_created": times,
            "allocated_time": times,
            "allocated_audience": [f"customer-{number % 99_991:08}" for number in numbers],
            "audience_type": [-1003] * count,
            "code_status": [3 + number % 2 for number in numbers],
        }
    )


def by_client(job: Job) -> float:
    """One process, as many requests at a time as the others have workers."""
    began = time.monotonic()
    job.scan().to_folder(job.folder / "codes")
    return time.monotonic() - began


def write_part(task: da.Task, folder: str) -> None:
    """Write the rows of one request, in the worker of Dask that sends it."""
    pq.write_table(task.to_arrow(), f"{folder}/{task.id}.parquet")


def by_dask(job: Job) -> float:
    """Workers of one thread each, in processes of their own. The time does not include their start."""
    from dask.distributed import Client, LocalCluster

    (job.folder / "codes").mkdir()
    local = LocalCluster(n_workers=job.workers, threads_per_worker=1, dashboard_address=None)
    with local as cluster, Client(cluster) as dask:
        # Each worker imports what it needs.
        dask.run(da.Client, job.base_url)
        began = time.monotonic()
        dask.gather(dask.map(write_part, job.scan().tasks(), folder=str(job.folder / "codes")))
        return time.monotonic() - began


def by_spark(job: Job) -> float:
    """The example on a master and workers of one core each. The time is that of Spark's job, without its start."""
    from support.spark_cluster import spark_cluster

    variables = {"DATAACCESS_BASE_URL": job.base_url, "DATAACCESS_TOKEN": job.token}
    with spark_cluster(job.folder / "logs", job.workers, variables) as cluster:
        target = str(job.folder / "codes")
        printed = cluster.submit(EXAMPLE, str(FIRST), str(job.stop), target, **{"spark.log.level": "INFO"})
        logs = cluster.logs()
    if job.token in printed + logs or "Registered app codes" not in logs:
        raise SystemExit("a log has the token, or the cluster did not run the job")
    return sum(float(each) for each in re.findall(r"Job \d+ finished: .* took ([\d.]+) ms", printed)) / 1000


def by_airflow(job: Job) -> float:
    """As many mapped tasks at a time as workers. The time is from the start of the first to the end of the last."""
    from standalone import standalone

    home = job.folder / "airflow"
    site = home / "site"
    site.mkdir(parents=True)
    # The package that is measured, and nothing else of this environment.
    (site / "dataaccess").symlink_to(Path(da.__file__).parent)
    settings = {
        "AIRFLOW_CONN_DATAACCESS_DEFAULT": json.dumps(
            {"conn_type": "dataaccess", "host": job.base_url, "password": job.token}
        ),
        "AIRFLOW__CORE__PARALLELISM": str(job.workers),
        "PYTHONPATH": str(site),
    }
    conf = {"start": str(FIRST), "stop": str(job.stop), "folder": str(job.folder / "codes")}
    with standalone(home, DAGS, settings, job.airflow_python) as airflow:
        airflow.wait_for("the DAG", lambda: airflow.request("GET", "/api/v2/dags")["total_entries"], 60)
        runs = "/api/v2/dags/mapped_codes/dagRuns"
        run = airflow.request("POST", runs, json={"logical_date": None, "conf": conf})["dag_run_id"]

        def ended() -> str | None:
            state: str = airflow.request("GET", f"{runs}/{run}")["state"]
            return state if state in ("success", "failed") else None

        state = airflow.wait_for("the end of the run", ended, _MOST_SECONDS)

        def outermost(field: str, order: str) -> dt.datetime:
            query = {"order_by": order, "limit": 1}
            found = airflow.request("GET", f"{runs}/{run}/taskInstances/codes/listMapped", params=query)
            return dt.datetime.fromisoformat(found["task_instances"][0][field])

        seconds = (outermost("end_date", "-end_date") - outermost("start_date", "start_date")).total_seconds()
    if state != "success":
        raise SystemExit(f"the run of the DAG failed; see the end of its log:\n{airflow.log.read_text()[-3000:]}")
    files = [path for path in home.rglob("*") if path.is_file() and site not in path.parents]
    if any(job.token.encode() in path.read_bytes() for path in files):
        raise SystemExit("a log or the database has the token")
    return seconds


ENGINES: dict[str, Callable[[Job], float]] = {
    "client": by_client,
    "dask": by_dask,
    "spark": by_spark,
    "airflow": by_airflow,
}


def check(job: Job, service: da.Sandbox, count: int) -> None:
    """Every code once, by its id; every day requested once."""
    found = pq.read_table(job.folder / "codes", columns=["id"])["id"].to_pylist()
    if len(found) != count or set(found) != {f"code-{number:09}" for number in range(count)}:
        raise SystemExit(f"{len(found)} rows with {len(set(found))} ids, not {count}")
    bodies = [json.dumps(request.body) for request in service.requests]
    if not len(bodies) == len(set(bodies)) == job.days:
        raise SystemExit(f"{len(bodies)} requests, not {job.days}")


def main() -> None:
    """Run one engine with each number of workers, and print a line of JSON for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=ENGINES)
    parser.add_argument("--codes", type=int, default=1_000_000)
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that the service takes before it responds")
    parser.add_argument("--python", default=str(AIRFLOW_PYTHON), help="the interpreter that has Airflow")
    given = parser.parse_args()
    warnings.simplefilter("ignore", da.DataAccessWarning)
    with da.Sandbox(switches={"latency": given.latency}) as service:
        service.load("promotion_code", codes(given.codes, given.days))
        for workers in given.workers:
            service.clear_requests()
            with tempfile.TemporaryDirectory() as folder:
                token = service.issue_token(["item"])
                job = Job(given.days, workers, service.base_url, token, Path(folder), given.python)
                os.environ["DATAACCESS_TOKEN"] = job.token
                seconds = ENGINES[given.engine](job)
                check(job, service, given.codes)
            figures = {"engine": given.engine, "workers": workers, "rows": given.codes, "latency": given.latency}
            print(json.dumps({**figures, "seconds": round(seconds, 2), "rows_a_second": round(given.codes / seconds)}))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
