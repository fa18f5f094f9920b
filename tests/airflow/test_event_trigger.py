"""`DataAccessEventTrigger`: events of asset watchers, and the example DAG that they start."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from airflow.sdk.execution_time import macros
from dags import example
from service import at_request

import dataaccess as da
from dataaccess.airflow import DataAccessEventTrigger

pytestmark = pytest.mark.usefixtures("token")

IN_VIETNAM = "Asia/Ho_Chi_Minh"


def stored(trigger: DataAccessEventTrigger) -> DataAccessEventTrigger:
    """The trigger that Airflow makes again from its database."""
    path, arguments = trigger.serialize()
    assert path == "dataaccess.airflow.trigger.DataAccessEventTrigger"
    again = DataAccessEventTrigger(**arguments)
    assert again.serialize() == (path, arguments)
    return again


async def payloads(trigger: DataAccessEventTrigger, seconds: float = 3) -> list[Any]:
    """The events within some seconds. The trigger goes on."""
    found = []

    async def collect(events: AsyncIterator[Any]) -> None:
        async for event in events:
            found.append(event.payload)

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(collect(trigger.run()), seconds)
    return found


def test_it_fires_once_when_the_export_has_ended(sandbox: da.Sandbox) -> None:
    export_id = sandbox.start_export(seconds=600)
    trigger = stored(DataAccessEventTrigger(export_id, poll_interval=0.1))
    with at_request(sandbox, 3, lambda: sandbox.advance(600)):
        (event,) = asyncio.run(payloads(trigger))
    assert event["export_id"] == export_id
    assert all(entry["endTime"] for entry in event["status"]["entries"])
    assert len(sandbox.requests) == 3


def test_an_error_is_logged_and_the_wait_goes_on(sandbox: da.Sandbox, caplog: pytest.LogCaptureFixture) -> None:
    export_id = sandbox.start_export(seconds=0)
    with sandbox.fault("status", path="download", status=404, times=2) as fault:
        (event,) = asyncio.run(payloads(DataAccessEventTrigger(export_id, poll_interval=0.1)))
    assert (event["export_id"], fault.hits) == (export_id, 2)


@pytest.mark.parametrize("zone", ["UTC", IN_VIETNAM])
def test_it_fires_for_each_day_once_it_is_final(zone: str, connect: Callable[..., str], sandbox: da.Sandbox) -> None:
    connect(extra={"timezone": zone})
    now = datetime.now(ZoneInfo(zone))
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    # Yesterday is final in a second.
    settle = time.time() - midnight.timestamp() + 1
    trigger = stored(DataAccessEventTrigger(settle=settle, poll_interval=0.1))
    days = [(midnight.date() - timedelta(days=ago)).isoformat() for ago in (2, 1)]
    assert asyncio.run(payloads(trigger)) == [{"day": day} for day in days]
    # After a restart of the triggerer, the last event comes again.
    assert asyncio.run(payloads(trigger, 1)) == [{"day": days[-1]}]
    assert sandbox.requests == []


def test_the_example_scans_the_days_of_the_events(sandbox: da.Sandbox, monkeypatch: Any, tmp_path: Any) -> None:
    monkeypatch.setenv("AIRFLOW_VAR_WAREHOUSE", str(tmp_path))
    dag = example("final_days")
    (asset,) = dag.schedule
    (watcher,) = asset.watchers
    assert stored(watcher.trigger).settle == 3600
    days = ("2024-01-15", "2024-01-17", "2024-01-16")
    events = [SimpleNamespace(extra={"from_trigger": True, "payload": {"day": day}}) for day in days]
    (task,) = dag.tasks
    context: Any = {"triggering_asset_events": {asset.name: events}, "macros": macros, "dag": dag}
    window = task.render_template(task.allocated_time, context)
    assert da.filters.parse(window) == da.days("2024-01-15", "2024-01-18")
