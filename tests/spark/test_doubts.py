"""Doubts about responses reach the driver: as errors, or as warnings in the logs of the executors."""

from __future__ import annotations

import pickle
import re
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PythonException

import dataaccess as da
from dataaccess.spark._doubts import Doubts

Read = Callable[..., Any]

MONTH = da.days("2024-01-01", "2024-02-01")
WEEK = da.days("2024-01-15", "2024-01-22")


@pytest.fixture
def cut_off(service: da.Sandbox) -> Iterator[None]:
    """The service cuts its responses at 50 rows. Most of its days have more."""
    service.switch(maximum_rows=50)
    yield
    service.switch(maximum_rows=None)


RESPONSE: dict[str, Any] = {
    "warnings": [],
    "reasons": [],
    "split": None,
    "rows": 50,
    "other_total": None,
    "absent": [],
    "extra_keys": [],
}


def first_line(error: BaseException) -> str:
    """The first line of an error that names one of ours."""
    return next(line for line in str(error).splitlines() if "dataaccess." in line)


@pytest.mark.usefixtures("cut_off")
def test_equal_counts_of_a_month_are_an_error_of_the_driver(read: Read) -> None:
    with pytest.raises(PythonException) as caught:
        read(attrs="id", allocated_time=MONTH).count()
    line = first_line(caught.value)
    assert re.match(r"dataaccess\.DoubtfulDataError: request \d+ of 31 \(2024-01-\d\d\): .*\b50\b", line)


@pytest.mark.usefixtures("cut_off")
def test_a_warning_delivers_the_rows_and_is_in_the_log_of_the_executor(spark: Any, read: Read) -> None:
    spark.conf.set("spark.sql.pyspark.worker.logging.enabled", "true")
    rows = read(attrs="id", allocated_time=MONTH, on_doubt="warn").count()
    assert rows == 31 * 50
    if hasattr(spark.tvf, "python_worker_logs"):  # since Spark 4.1
        logs = spark.tvf.python_worker_logs().select("msg").collect()
        assert sum("IncompleteWarning: request" in row.msg for row in logs) == 1
    spark.conf.unset("spark.sql.pyspark.worker.logging.enabled")


def test_the_processes_of_an_executor_compare_all_its_responses(tmp_path: Path, client: da.Client) -> None:
    days = da.days("2024-01-01", "2024-03-01")
    tasks = client.scan_codes(["id"], allocated_time=days).tasks()
    plan = Doubts("error", len(tasks))
    processes = [pickle.loads(pickle.dumps(plan)) for _ in range(4)]

    for index in range(4):
        processes[index].check(tasks[index], index, RESPONSE, str(tmp_path))
        # A task that Spark runs again is compared once.
        processes[index].check(tasks[index], index, RESPONSE, str(tmp_path))
    # Another use of the scan is another comparison.
    Doubts("error", len(tasks)).check(tasks[4], 4, RESPONSE, str(tmp_path))
    named = r"^request 5 of 60 \(2024-01-05\): .*\b5 of 5\b.*\b50\b.*\(2024-01-01, 2024-01-02, 2024-01-03\b.*\b2\b"
    with pytest.raises(da.DoubtfulDataError, match=named):
        processes[0].check(tasks[4], 4, RESPONSE, str(tmp_path))
    # So is each that follows it, as any of them may be the one that ends the query.
    with pytest.raises(da.DoubtfulDataError):
        processes[2].check(tasks[6], 6, RESPONSE, str(tmp_path))
    # A response with more rows shows that 50 is no cap.
    processes[1].check(tasks[5], 5, {**RESPONSE, "rows": 51}, str(tmp_path))


def test_one_of_the_responses_that_come_at_once_warns(tmp_path: Path, client: da.Client) -> None:
    tasks = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-03-01")).tasks()[:12]
    for _ in range(30):
        plan, barrier = Doubts("warn", 60), threading.Barrier(len(tasks))

        def check(index: int, plan: Doubts = plan, barrier: threading.Barrier = barrier) -> None:
            barrier.wait()
            plan.check(tasks[index], index, RESPONSE, str(tmp_path))

        with warnings.catch_warnings(record=True) as caught, ThreadPoolExecutor(len(tasks)) as pool:
            warnings.simplefilter("always")
            list(pool.map(check, range(len(tasks))))
        assert [warning.category for warning in caught] == [da.IncompleteWarning]


def test_responses_that_cannot_be_compared_are_a_doubt(tmp_path: Path, client: da.Client) -> None:
    tasks = client.scan_codes(["id"], allocated_time=WEEK).tasks()
    with pytest.raises(da.DoubtfulDataError, match=str(tmp_path / "gone")):
        Doubts("error", 7).check(tasks[0], 0, RESPONSE, str(tmp_path / "gone"))
    with pytest.warns(da.DataAccessWarning, match=str(tmp_path / "gone")):
        Doubts("warn", 7).check(tasks[0], 0, RESPONSE, str(tmp_path / "gone"))


@pytest.mark.usefixtures("cut_off")
def test_a_response_with_the_known_cap_is_split(read: Read, service: da.Sandbox) -> None:
    options = {"attrs": "id, code_status, allocated_time", "allocated_time": WEEK, "on_doubt": "error"}
    service.switch(maximum_rows=None)
    whole = service.client().scan_codes(["id", "allocated_time"], allocated_time=WEEK).collect()
    service.switch(maximum_rows=50)
    frame = read(known_row_cap=50, on_suspected_cap="split", **options)
    found = sorted((row.id, row.allocated_time.timestamp()) for row in frame.collect())
    assert [name for name, _ in found] == sorted(whole["id"])
