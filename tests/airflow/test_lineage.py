"""Lineage and rendered fields: what Airflow shows of a task beside its result."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from airflow.sdk import DAG
from dags import run

import dataaccess as da
from dataaccess.airflow import (
    DataAccessScanOperator,
    DataAccessSearchOperator,
    operators,
)


@pytest.fixture
def dag(request: pytest.FixtureRequest, tmp_path: Path) -> DAG:
    return DAG(re.sub(r"\W+", "-", request.node.name), schedule=None, template_searchpath=str(tmp_path))


def test_tasks_report_what_they_read_and_wrote(
    dag: DAG, sandbox: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connect: Callable[..., str]
) -> None:
    connect()
    collector = sys.modules[vars(operators)["get_hook_lineage_collector"].__module__].HookLineageCollector()
    # Airflow collects where a plugin reads, such as the provider of OpenLineage.
    monkeypatch.setattr(operators, "get_hook_lineage_collector", lambda: collector)
    with dag:
        DataAccessScanOperator(task_id="scan", folder=f"{tmp_path}/scan", allocated_time=da.on("2024-01-15"))
        DataAccessSearchOperator(task_id="file", path=f"{tmp_path}/codes.parquet", allocated_time=da.on("2024-01-15"))
        DataAccessSearchOperator(task_id="rows", allocated_time=da.on("2024-01-15"))
    assert set(run(dag).states.values()) == {"success"}
    assert {found.asset.uri for found in collector.collected_assets.inputs} == {f"{sandbox.base_url}/"}
    written = {found.asset.uri for found in collector.collected_assets.outputs}
    assert written == {f"file://{tmp_path}/scan", f"file://{tmp_path}/codes.parquet"}
