"""What the processes of executors share: one client each, and readers without the scan."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql.types import LongType, StructField, StructType

import dataaccess as da
from dataaccess.spark import DataAccessSource

Read = Callable[..., Any]

pytestmark = pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")


def reader(days: str, **options: str) -> Any:
    source = DataAccessSource({"base_url": "sandbox:demo?until=2024-02-29", "allocated_time": days, **options})
    return source.reader(StructType([StructField("pool_id", LongType())]))


def test_each_process_has_one_client_for_all_its_tasks(read: Read, service: da.Sandbox) -> None:
    """The ids of the requests of a client begin alike."""
    frame = read(allocated_time=da.days("2024-01-01", "2024-01-21"))
    # The next job has the clients of this one, unless Spark took other processes.
    for _ in range(2):
        frame.count()
    ids = [request.headers["x-request-id"] for request in service.requests]
    assert len(ids) == 40
    assert 1 <= len({name[:8] for name in ids}) <= 4


def test_queries_with_other_settings_have_other_clients() -> None:
    clients = []
    for more in ({}, {"timezone": "Europe/Berlin"}, {}):
        made = reader("on('2024-01-15')", **more)
        [partition] = made.partitions()
        clients.append(made._shared.task(partition.value[0][1])._client)
    assert clients[0] is clients[2] is not clients[1]
    assert [client.timezone for client in clients] == ["UTC", "Europe/Berlin", "UTC"]


def test_a_reader_pickles_without_its_scan() -> None:
    short, long = (pickle.dumps(reader(f"days('2020-01-01', '{stop}')")) for stop in ("2020-01-03", "2024-01-01"))
    assert abs(len(long) - len(short)) < 10
    assert b"2020-01-01" not in long


def test_a_forked_process_uses_the_client_of_its_parent_as_its_own() -> None:
    """The daemon of Spark forks its workers, and a library of a user may fork a worker."""
    made = reader("on('2024-01-15')")
    shared, [partition] = made._shared, made.partitions()
    [(_, planned)] = partition.value
    expected = len(shared.task(planned).to_dicts())
    if (pid := os.fork()) == 0:
        os._exit(0 if len(shared.task(planned).to_dicts()) == expected > 0 else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert len(shared.task(planned).to_dicts()) == expected
