"""Requests of a scan in mapped tasks: folders of other queries, inferred types; scans in mapped tasks."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from dags import query, run, tries

import dataaccess as da
from dataaccess.airflow import DataAccessScanOperator, DataAccessScanRequestOperator, scan_requests

ON_15 = da.on("2024-01-15")
ON_16 = da.on("2024-01-16")
OF_WHOM: dict[str, Any] = {"allocated_time": da.since("2024-01-01"), "audience_type": "customer"}


@pytest.fixture(autouse=True)
def token(connect: Callable[..., str]) -> str:
    return connect()


def mapped(name: str, scan: da.Scan, folder: Path) -> Any:
    """A DAG with a mapped task for each request."""
    with DAG(name, schedule=None) as dag:
        operator = DataAccessScanRequestOperator.partial(task_id="codes", folder=str(folder), retries=2)
        operator.expand(request=scan_requests(scan))
    return dag


def ids(count: int) -> list[str]:
    return [f"demo-customer-{number:04}" for number in range(count)]


def test_files_of_a_longer_list_of_values_are_refused(sandbox: da.Sandbox, tmp_path: Path) -> None:
    client = sandbox.client()
    long = client.scan_codes(["id"], allocated_audience=ids(2_025), **OF_WHOM)
    short = client.scan_codes(["id"], allocated_audience=ids(1), **OF_WHOM)
    assert set(run(mapped("long", long, tmp_path)).states.values()) == {"success"}
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(files) > 1
    sandbox.clear_requests()
    done = run(mapped("short", short, tmp_path))

    assert done.states == {"codes[0]": "failed"}
    assert tries(done, "codes") == 1
    assert not sandbox.requests
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files
    # The same query again.
    assert set(run(mapped("long", long, tmp_path)).states.values()) == {"success"}
    assert {path.name for path in tmp_path.iterdir()} == set(files)


@pytest.mark.parametrize(
    "change",
    [
        {"code_status": "sent"},
        {"attrs": ["id", "pool_id"]},
        {"schema": {"id": "json"}},
        {"allocated_time": da.since("2024-01-16")},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_query_is_refused(
    change: dict[str, Any], sandbox: da.Sandbox, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments: dict[str, Any] = {"attrs": ["id"], "allocated_time": ON_15}
    client = sandbox.client()
    run(mapped("begun", client.scan_codes(**arguments), tmp_path))
    other = client.scan_codes(**{**arguments, "allocated_time": ON_16, **change})
    assert run(mapped("other", other, tmp_path)).states == {"codes[0]": "failed"}
    assert re.search(rf"FolderError: {tmp_path} .*\bday=2024-01-15/part-0-", "".join(capfd.readouterr()))
    same = client.scan_codes(**{**arguments, "allocated_time": ON_16})
    assert run(mapped("same", same, tmp_path)).states == {"codes[0]": "success"}
    assert query(f"select count(distinct day) from '{tmp_path}/*/*.parquet'") == [(2,)]


def test_scans_and_mapped_requests_do_not_share_a_folder(sandbox: da.Sandbox, tmp_path: Path) -> None:
    scan = sandbox.client().scan_codes(["id"], allocated_time=ON_15)
    scan.to_folder(tmp_path / "scan")
    assert run(mapped("into_a_scan", scan, tmp_path / "scan")).states == {"codes[0]": "failed"}
    run(mapped("requests", scan, tmp_path / "requests"))
    with pytest.raises(da.FolderError, match="part-0-"):
        scan.to_folder(tmp_path / "requests")


def test_hidden_files_are_of_no_query(sandbox: da.Sandbox, tmp_path: Path) -> None:
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".crc").mkdir()
    (tmp_path / ".crc" / "part-0.parquet").touch()
    scan = sandbox.client().scan_codes(["id"], allocated_time=ON_15)
    for _ in range(2):
        assert run(mapped("hidden", scan, tmp_path)).states == {"codes[0]": "success"}


def test_inferred_types_are_refused(sandbox: da.Sandbox) -> None:
    client = sandbox.client()
    arguments: dict[str, Any] = {"attrs": ["customer_id", "area"], "where": da.col("customer_id").matches(ids(3))}
    with pytest.raises(da.ValidationError, match=r"^scan: .*\barea\b.*\bschema\b"):
        scan_requests(client.scan_items("customer", **arguments))
    typed = client.scan_items("customer", **arguments, schema={"area": "float64"})
    assert len(scan_requests(typed)) == 1


@pytest.mark.parametrize(
    ("arguments", "defaults", "expected"),
    [
        ({}, {}, 1),
        ({"max_active_tis_per_dag": 4}, {}, 4),
        ({"max_active_tis_per_dag": None}, {}, None),
        ({}, {"max_active_tis_per_dag": 2}, 2),
    ],
)
def test_mapped_scans_run_one_at_a_time_unless_an_argument_says_otherwise(
    arguments: dict[str, Any], defaults: dict[str, Any], expected: int | None
) -> None:
    with DAG("mapped", schedule=None, default_args=defaults) as dag:
        partial = DataAccessScanOperator.partial(task_id="mapped", folder="codes", **arguments)
        partial.expand(allocated_time=["on('2024-01-15')", "on('2024-01-16')"])
        DataAccessScanOperator(task_id="single", folder="codes", **arguments)
    found = [dag.get_task(name).max_active_tis_per_dag for name in ("mapped", "single")]
    assert found == [expected, expected]
