"""Tasks that start processes: by `os.fork`, and by `multiprocessing`."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import children
import pytest
from airflow.sdk import dag, task
from dags import run

import dataaccess as da
from dataaccess.airflow import DataAccessHook, DataAccessSearchOperator

DAYS = ["2024-01-15", "2024-01-16"]


def in_a_fork(function: Callable[[], int]) -> int:
    """What a function returns in a child that `os.fork` makes."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            os.write(writer, str(function()).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as result:
        returned = result.read()
    os.waitpid(child, 0)
    return int(returned)


@dag(schedule=None)
def processes() -> None:
    """Each task has used its client before it starts processes."""

    @task
    def by_os_fork() -> list[int]:
        rows = children.rows_by(DataAccessHook().get_conn(), DAYS[0])
        again = DataAccessSearchOperator(task_id="again", attrs=["id"], allocated_time=da.on(DAYS[1]))
        return [rows, in_a_fork(lambda: len(again.execute({})))]

    @task
    def by_fork() -> list[int]:
        children.INHERITED[:] = [DataAccessHook().get_conn()]
        rows = children.rows_of(DAYS[0])
        with ProcessPoolExecutor(2, mp_context=get_context("fork")) as pool:
            return [rows, *pool.map(children.rows_of, DAYS)]

    @task
    def by_spawn() -> list[int]:
        client = DataAccessHook(None).get_conn()
        rows = children.rows_by(client, DAYS[0])
        with get_context("spawn").Pool(1) as pool:
            return [rows, *pool.map(partial(children.rows_by, client), DAYS)]

    by_os_fork() >> by_fork() >> by_spawn()


@pytest.mark.timeout(120)
def test_processes_of_a_task_use_its_client(
    connect: Callable[..., str], sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN", connect())
    done: Any = run(processes())

    first, second = (children.rows_by(sandbox.client(), day) for day in DAYS)
    assert done.states == {"by_os_fork": "success", "by_fork": "success", "by_spawn": "success"}
    assert done.result("by_os_fork") == [first, second]
    assert done.result("by_fork") == [first, first, second]
    assert done.result("by_spawn") == [first, first, second]
