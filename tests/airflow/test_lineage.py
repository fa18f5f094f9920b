"""Lineage and rendered fields: what Airflow shows of a task beside its result."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from dags import run

import dataaccess as da
from dataaccess.airflow import (
    DataAccessHook,
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


def test_conditions_are_shown_as_code() -> None:
    scan = DataAccessScanOperator(task_id="scan", folder="/data")
    shown = {name: scan.template_fields_renderers.get(name) for name in scan.template_fields}
    assert {name: kind for name, kind in shown.items() if kind} == {
        "allocated_time": "py",
        "where": "py",
        "attrs": "json",
        "schema": "json",
    }


def test_a_condition_may_be_in_a_file(dag: DAG, tmp_path: Path, connect: Callable[..., str]) -> None:
    connect()
    (tmp_path / "two.txt").write_text("col('customer_id').matches({{ params.customers }})")
    client = DataAccessHook().client()
    customers = ["demo-customer-0001", "demo-customer-0002"]
    conditions = client.validate_items("customer", ["customer_id"], where=da.col("customer_id").matches(customers))
    (tmp_path / "two.json").write_text(json.dumps(conditions["filters"]))
    options: dict[str, Any] = {
        "item_type_name": "customer",
        "attrs": ["customer_id"],
        "params": {"customers": customers},
    }
    with dag:
        for name in ("txt", "json"):
            DataAccessSearchOperator(task_id=name, where=f"{{% include 'two.{name}' %}}", **options)
    done = run(dag)
    assert [[row["customer_id"] for row in done.result(name)] for name in ("txt", "json")] == [customers] * 2
