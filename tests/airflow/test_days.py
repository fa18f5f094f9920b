"""The days of a run: the days before it, tasks that are cleared, templates with them, and backfills of a page."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from airflow.sdk import DAG
from airflow.timetables.interval import CronDataIntervalTimetable
from dags import clear, run, tries
from scratch import EXAMPLES, ROOT

import dataaccess as da
from dataaccess.airflow import DataAccessScanOperator, DataAccessSearchOperator
from dataaccess.airflow.days import refresh_since

IN_VIETNAM = "Asia/Ho_Chi_Minh"
WEEK = da.days("2024-01-08", "2024-01-15")


@pytest.fixture(autouse=True)
def token(connect: Callable[..., str]) -> str:
    return connect()


def daily(name: str, zone: str = "UTC", cron: str = "15 0 * * *", **options: Any) -> DAG:
    schedule = CronDataIntervalTimetable(cron, timezone=zone)
    return DAG(name, schedule=schedule, start_date=datetime(2024, 1, 1, tzinfo=UTC), **options)


def days_of(sandbox: da.Sandbox, zone: tzinfo = UTC) -> list[str]:
    """The days that were requested since the last call, in the order of days."""
    bodies = [request.body for request in sandbox.requests if "filters" in request.body]
    sandbox.clear_requests()
    times = [
        condition["value"]
        for body in bodies
        for condition in body["filters"]["OR"][0]["AND"]
        if condition["data_type"] == "datetime"
    ]
    return sorted(datetime.fromtimestamp(time / 1000, zone).date().isoformat() for time in times)


@pytest.mark.parametrize("lookback", [0, 2])
def test_a_task_that_is_cleared_requests_its_days_again(
    sandbox: da.Sandbox, connect: Callable[..., str], tmp_path: Path, lookback: int
) -> None:
    connect(extra={"retry_for": 0, "concurrency": 1})
    with daily("cleared") as dag:
        DataAccessScanOperator(task_id="codes", folder=str(tmp_path), attrs=["id"], lookback=lookback, retries=1)
    done = run(dag, logical_date=datetime(2024, 1, 16, 0, 15, tzinfo=UTC))
    days = days_of(sandbox)
    assert len(days) == lookback + 1
    clear(done, dag, "codes")
    assert days_of(sandbox) == days
    assert done.result("codes")["refreshed"] == lookback + 1
    clear(done, dag, "codes")
    assert days_of(sandbox) == days


@pytest.mark.parametrize("lookback", [0, 3])
def test_the_retry_of_a_cleared_task_keeps_what_its_run_has(
    sandbox: da.Sandbox, connect: Callable[..., str], tmp_path: Path, lookback: int
) -> None:
    connect(extra={"retry_for": 0, "concurrency": 1})
    # From now on, `Date` of a response is later than the clock of this machine, which counts to the millisecond.
    sandbox.advance(3600)
    with daily("cleared_retried", cron="15 0 * * MON") as dag:
        DataAccessScanOperator(task_id="codes", folder=str(tmp_path), attrs=["id"], lookback=lookback, retries=1)
    done = run(dag, logical_date=datetime(2024, 1, 16, tzinfo=UTC))
    count = 7 + lookback
    assert len(days_of(sandbox)) == count
    with sandbox.fault("cut", after_bytes=200, after=4, times=1) as fault:
        clear(done, dag, "codes")
    # The retry requests the day that failed, and no other.
    assert (fault.hits, tries(done, "codes"), len(days_of(sandbox))) == (1, 3, count + 1)
    assert done.result("codes")["kept"] == count - 1


BEGIN = datetime(2024, 2, 1, 6, tzinfo=UTC)
EVERYTHING = datetime.max.replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("try_number", "max_tries", "lookback", "expected"),
    [
        (1, 2, 0, None),
        (3, 2, 0, None),
        (1, 2, 3, EVERYTHING),
        (2, 2, 3, BEGIN),
        # Cleared after one try, and after three.
        (2, 3, 0, EVERYTHING),
        (3, 3, 0, BEGIN),
        (4, 5, 3, EVERYTHING),
        # A task that was cleared while it ran: its tries go on, and `max_tries` stays.
        (4, 2, 0, None),
        # `retries` was raised after the run began.
        (1, 0, 0, None),
        (1, 0, 3, EVERYTHING),
    ],
)
def test_what_a_try_requests_again(try_number: int, max_tries: int, lookback: int, expected: datetime | None) -> None:
    task = SimpleNamespace(try_number=try_number, max_tries=max_tries)
    context: Any = {"task_instance": task, "dag_run": SimpleNamespace(start_date=BEGIN)}
    assert refresh_since(context, retries=2, lookback=lookback) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {"lookback": -1},
        {"lookback": True},
        {"lookback": 3, "allocated_time": WEEK},
        {"lookback": 3, "allocated_time": "days('{{ params.start }}', '{{ params.stop }}')"},
        {"lookback": 3, "item_type_name": "customer", "where": da.col("opened").on(WEEK)},
        {"lookback": 3, "item_type_name": "customer"},
    ],
)
def test_a_lookback_that_would_change_nothing_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(da.ValidationError, match=r"^lookback: "):
        DataAccessScanOperator(task_id="codes", folder="codes", **arguments)


@pytest.mark.parametrize("is_native", [False, True], ids=["text", "native"])
def test_templates_have_the_days_of_the_run_in_the_zone_of_the_connection(
    sandbox: da.Sandbox, connect: Callable[..., str], tmp_path: Path, *, is_native: bool
) -> None:
    connect("vietnam", extra={"timezone": IN_VIETNAM})
    shared: dict[str, Any] = {"attrs": ["id"], "dataaccess_conn_id": "{{ 'vietnam' }}"}
    items: dict[str, Any] = {**shared, "item_type_name": "promotion_code"}
    where = "col('allocated_time').on({{ dataaccess.days }})"
    with daily("templates", IN_VIETNAM, render_template_as_native_obj=is_native) as dag:
        DataAccessSearchOperator(task_id="default", **shared)
        DataAccessSearchOperator(task_id="codes", allocated_time="{{ dataaccess.days }}", **shared)
        DataAccessSearchOperator(task_id="file", path=f"{tmp_path}/{{{{ dataaccess.first_day }}}}.parquet", **shared)
        DataAccessSearchOperator(task_id="items", where=where, **items)
        DataAccessScanOperator(
            task_id="scan", where=where, folder=f"{tmp_path}/scan", refresh="{{ dataaccess.first_day }}", **items
        )
        DataAccessScanOperator(
            task_id="back", where=where, folder=f"{tmp_path}/back-{{{{ dataaccess.last_day }}}}", lookback=1, **items
        )
        DataAccessSearchOperator.partial(task_id="mapped", **shared).expand(
            allocated_time=["{{ dataaccess.days }}", "on('{{ dataaccess.first_day }}')"]
        )
    done = run(dag, logical_date=datetime(2024, 1, 15, 17, 15, tzinfo=UTC))

    assert set(done.states.values()) == {"success"}
    assert days_of(sandbox, ZoneInfo(IN_VIETNAM)) == ["2024-01-14", *["2024-01-15"] * 8]
    assert (tmp_path / "2024-01-15.parquet").exists()
    assert sorted(path.name for path in tmp_path.glob("*/day=*")) == [
        "day=2024-01-14",
        "day=2024-01-15",
        "day=2024-01-15",
    ]
    assert (tmp_path / "back-2024-01-15").exists()


def test_a_template_without_a_day_skips_the_task_as_the_default_does(tmp_path: Path) -> None:
    with daily("hourly", cron="0 * * * *") as dag:
        DataAccessScanOperator(task_id="default", folder=str(tmp_path))
        DataAccessSearchOperator(task_id="template", allocated_time="{{ dataaccess.days }}")
    done = run(dag, logical_date=datetime(2024, 1, 15, 12, tzinfo=UTC))
    assert done.states == {"default": "skipped", "template": "skipped"}


@pytest.mark.parametrize("zone", ["UTC", IN_VIETNAM, "America/Sao_Paulo"])
def test_the_dag_of_the_page_loads_the_day_before_in_its_zone(
    zone: str, sandbox: da.Sandbox, connect: Callable[..., str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(extra={"timezone": zone})
    monkeypatch.setenv("AIRFLOW_VAR_WAREHOUSE", str(tmp_path))
    dag = of_the_page(zone, "nights")
    found = runs(dag, datetime(2024, 1, 14, tzinfo=UTC), datetime(2024, 1, 18, tzinfo=UTC))
    for number, night in enumerate(found[:2]):
        done = run(dag, logical_date=night + timedelta(days=1))
        assert (done.states, tries(done, "codes")) == ({"codes": "success"}, 1)
        last = night.astimezone(ZoneInfo(zone)).date()
        expected = [(last - timedelta(days=before)).isoformat() for before in (3, 2, 1, 0)]
        assert days_of(sandbox, ZoneInfo(zone)) == expected
        assert done.result("codes")["refreshed"] == 3 * number


@pytest.mark.parametrize("zone", ["UTC", IN_VIETNAM, "America/Sao_Paulo"])
def test_the_backfill_of_the_page_has_each_day_of_january(zone: str) -> None:
    from airflow.cli.cli_parser import get_parser

    command = next(line for line in page().splitlines() if "airflow backfill create" in line)
    command = command.replace("+00:00", {"UTC": "+00:00", IN_VIETNAM: "+07:00", "America/Sao_Paulo": "-03:00"}[zone])
    with suppress(SystemExit):
        arguments = get_parser().parse_args(shlex.split(command)[1:])
    dag = of_the_page(zone, "backfill")
    found = runs(dag, arguments.from_date, arguments.to_date)
    days = [night.astimezone(ZoneInfo(zone)).date().isoformat() for night in found]
    assert days == [f"2024-01-{day:02}" for day in range(1, 32)]


def page() -> str:
    text: str = (ROOT / "docs" / "airflow.md").read_text(encoding="utf-8")
    return text


def of_the_page(zone: str, name: str) -> Any:
    """The DAG of the page with another name, and another time zone in its schedule."""
    source = (EXAMPLES / "daily_codes.py").read_text(encoding="utf-8")
    assert 'timezone="UTC"' in source
    name = f"{name}_{zone.partition('/')[0]}"
    source = source.replace('timezone="UTC"', f'timezone="{zone}"').replace("daily_codes", name)
    module: dict[str, Any] = {"__file__": str(EXAMPLES / "daily_codes.py"), "__name__": name}
    exec(compile(source, name, "exec"), module)
    return module[name]()


def runs(dag: Any, start: datetime, stop: datetime) -> list[datetime]:
    """The logical dates of a backfill, as its dry run shows them: each is the start of a data interval."""
    from airflow.models.backfill import ReprocessBehavior, _do_dry_run
    from airflow.utils.session import create_session
    from dags import register

    register(dag)
    with create_session() as session:
        found = list(
            _do_dry_run(
                dag_id=dag.dag_id,
                from_date=start,
                to_date=stop,
                reverse=False,
                reprocess_behavior=ReprocessBehavior.NONE,
                session=session,
            )
        )
    return [getattr(info, "logical_date", info) for info in found]  # dates alone before Airflow 3.2
