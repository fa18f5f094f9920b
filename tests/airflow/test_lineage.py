"""Lineage, links and rendered fields: what Airflow shows of a task beside its result."""

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
    DataAccessScanRequestOperator,
    DataAccessSearchCodesOperator,
    DataAccessSearchItemsOperator,
    DataAccessSegmentExportSensor,
    lineage,
    scan_requests,
)
from dataaccess.airflow.lineage import asset_uri


@pytest.fixture
def dag(request: pytest.FixtureRequest, tmp_path: Path) -> DAG:
    return DAG(re.sub(r"\W+", "-", request.node.name), schedule=None, template_searchpath=str(tmp_path))


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("s3://aws@warehouse/codes/", "s3://warehouse/codes"),
        ("gs://google@warehouse/codes", "gs://warehouse/codes"),
        ("abfss://container@account.dfs.core.windows.net/x", "abfss://container@account.dfs.core.windows.net/x"),
        ("file:///data/codes", "file:///data/codes"),
        ("/data/my codes", "file:///data/my codes"),
    ],
)
def test_an_asset_uri_has_no_connection(target: str, expected: str) -> None:
    assert asset_uri(target) == expected


def test_tasks_report_what_they_read_and_wrote(
    dag: DAG, sandbox: da.Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connect: Callable[..., str]
) -> None:
    connect()
    collector = sys.modules[vars(lineage)["get_hook_lineage_collector"].__module__].HookLineageCollector()
    # Airflow collects where a plugin reads, such as the provider of OpenLineage.
    monkeypatch.setattr(lineage, "get_hook_lineage_collector", lambda: collector)
    client = DataAccessHook().client()
    (request,) = scan_requests(client.scan_codes(allocated_time=da.days("2024-01-15", "2024-01-16")))
    with dag:
        DataAccessScanOperator(task_id="scan", folder=f"{tmp_path}/scan", allocated_time=da.on("2024-01-15"))
        DataAccessScanRequestOperator(task_id="request", folder=f"{tmp_path}/requests", request=request)
        DataAccessSearchCodesOperator(
            task_id="file", path=f"{tmp_path}/codes.parquet", allocated_time=da.on("2024-01-15")
        )
        DataAccessSearchCodesOperator(task_id="rows", allocated_time=da.on("2024-01-15"))
    assert set(run(dag).states.values()) == {"success"}
    assert {found.asset.uri for found in collector.collected_assets.inputs} == {f"{sandbox.base_url}/"}
    written = {found.asset.uri for found in collector.collected_assets.outputs}
    file = f"{tmp_path}/requests/{request['file']}"
    assert written == {f"file://{tmp_path}/scan", f"file://{file}", f"file://{tmp_path}/codes.parquet"}


@pytest.mark.parametrize(
    ("folder", "expected"),
    [
        ("s3://aws@warehouse/my codes", "https://console.aws.amazon.com/s3/buckets/warehouse?prefix=my%20codes"),
        ("gs://warehouse/codes", "https://console.cloud.google.com/storage/browser/warehouse/codes"),
        ("/data/codes", ""),
    ],
)
def test_a_task_links_to_its_folder(folder: str, expected: str) -> None:
    scan = DataAccessScanOperator(task_id="scan", folder=folder)
    file = DataAccessSearchCodesOperator(task_id="file", path=folder)
    for task in (scan, file):
        (link,) = tuple(task.operator_extra_links)
        assert link.get_link(task, ti_key=None) == expected
    rows = DataAccessSearchItemsOperator(task_id="rows", item_type_name="customer", attrs=["customer_id"])
    assert next(iter(rows.operator_extra_links)).get_link(rows, ti_key=None) == ""
    # The API specification has no page of an export.
    assert DataAccessSegmentExportSensor(task_id="ended", export_id=7).operator_extra_links == ()


def test_airflow_knows_the_link() -> None:
    from airflow.providers_manager import ProvidersManager

    assert "dataaccess.airflow.lineage.FolderLink" in ProvidersManager().extra_links_class_names


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
            DataAccessSearchItemsOperator(task_id=name, where=f"{{% include 'two.{name}' %}}", **options)
    done = run(dag)
    assert [[row["customer_id"] for row in done.result(name)] for name in ("txt", "json")] == [customers] * 2
