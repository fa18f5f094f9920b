"""The example DAGs run against the sandbox."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from dags import NO_DOUBTS, example, query, run
from service import at_request

import dataaccess as da


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, connect: Callable[..., str]) -> Path:
    connect()
    monkeypatch.setenv("AIRFLOW_VAR_WAREHOUSE", str(tmp_path))
    return tmp_path


def test_a_run_a_day_fills_one_folder(folder: Path, sandbox: da.Sandbox) -> None:
    dag = example("daily_codes")
    for day in (16, 17, 16):
        # A run by hand has the last interval that has ended.
        assert run(dag, logical_date=datetime(2024, 1, day, 0, 15, tzinfo=UTC)).states == {"codes": "success"}

    days = query(
        f"select day, count(*), count(distinct id) from '{folder}/codes/*/*.parquet' group by day order by day"
    )
    client = sandbox.client()
    counts = [
        len(client.search_codes(["id"], allocated_time=da.on(f"2024-01-{day}"), code_status=["sent", "used"]))
        for day in range(12, 17)
    ]
    assert days == [(date(2024, 1, 12 + index), count, count) for index, count in enumerate(counts)]
    assert all(counts)


def test_mapped_tasks_write_a_file_each(folder: Path, sandbox: da.Sandbox) -> None:
    with at_request(sandbox, 2, lambda: sandbox.advance(600)):
        done = run(example("campaign"), conf={"export_id": sandbox.start_export(seconds=600)})

    assert set(done.states) == {"ended", "plan", "report", *(f"codes[{index}]" for index in range(3))}
    assert set(done.states.values()) == {"success"}
    days = da.days("2024-01-15", "2024-01-18")
    expected = sorted(row["id"] for row in sandbox.client().search_codes(["id"], allocated_time=days))
    found = query(f"select id from '{folder}/campaign/*.parquet' order by id")
    assert [row[0] for row in found] == expected
    assert done.result("report") == len(expected)
    assert done.result("ended")["entries"][0]["endTime"]


def test_searches_go_to_xcom_or_into_a_file(folder: Path, sandbox: da.Sandbox) -> None:
    done = run(example("customers"))

    assert [row["customer_id"] for row in done.result("customers")] == ["demo-customer-0001", "demo-customer-0002"]
    assert done.result("count") == {"customers": 2, "codes": 73}
    path = folder / "used-2024-01-15.jsonl.gz"
    used = sandbox.client().search_codes(["id"], allocated_time=da.on("2024-01-15"), code_status="used")
    assert done.result("used") == {
        "path": str(path),
        "rows": len(used),
        **NO_DOUBTS,
    }
    assert query(f"select id from '{path}'") == [(row["id"],) for row in used]
    assert [row["customer_id"] for row in done.result("of_output")] == ["demo-customer-0003", "demo-customer-0004"]
    later = sandbox.client().search_codes(["id"], allocated_time=da.days("2024-01-16", "2024-01-18"))
    # The tasks of a mapped one run in any order.
    assert sorted(len(rows) for rows in done.result("mapped")) == sorted([73, len(later)])


def test_a_week_is_read_if_it_is_complete(folder: Path, sandbox: da.Sandbox) -> None:
    for stop in (14, 15):
        days = da.days("2024-01-08", f"2024-01-{stop}")
        sandbox.client().scan_codes(["id"], allocated_time=days).to_folder(folder / "codes")
        done = run(example("weekly_codes"), logical_date=datetime(2024, 1, 15, 6, tzinfo=UTC))
        if stop == 14:
            assert done.states == {"count": "failed"}
    assert done.result("count") == "488 codes from 2024-01-08 to 2024-01-14"
