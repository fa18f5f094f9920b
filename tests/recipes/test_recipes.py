"""Each recipe runs as a program, and what it leaves behind is what the service has."""

from __future__ import annotations

import datetime as dt
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest

import dataaccess as da

Run = Callable[..., str]

pytestmark = pytest.mark.timeout(180)

JANUARY = da.days("2024-01-01", "2024-02-01")


RECIPES = Path(__file__).parents[2] / "examples" / "recipes"
# dlt reports each use to its makers otherwise.
QUIET = {"RUNTIME__DLTHUB_TELEMETRY": "false", "PYTHONIOENCODING": "utf-8"}


@pytest.fixture
def service() -> Iterator[da.Sandbox]:
    """The service, with demo data of its own for each test."""
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        yield sandbox


@pytest.fixture
def run(service: da.Sandbox, tmp_path: Path) -> Callable[..., str]:
    """Runs a recipe in a folder of its own, as a program. Returns what it printed."""
    variables = {
        "DATAACCESS_BASE_URL": service.base_url,
        "DATAACCESS_TOKEN": service.issue_token(["item"]),
        "DLT_DATA_DIR": str(tmp_path / "dlt"),
    }

    def run(name: str, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, RECIPES / name, *arguments],
            env=os.environ | QUIET | variables,
            cwd=tmp_path,
            capture_output=True,
            encoding="utf-8",
            timeout=100,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert variables["DATAACCESS_TOKEN"] not in done.stdout + done.stderr
        return done.stdout

    return run


def program_of(program: str) -> str | None:
    """A program of Postgres, which Debian keeps out of PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return shutil.which(program, path=os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")]))


@pytest.fixture
def postgres() -> Iterator[str]:
    """A new server that listens on a socket of its own alone; the string that connects to it."""
    initdb, server = program_of("initdb"), program_of("postgres")
    if initdb is None or server is None:
        pytest.skip("Postgres is not installed")
    # A server refuses to run as root. The path of a socket has 107 characters at most.
    as_user: dict[str, Any] = {"user": "postgres"} if os.geteuid() == 0 else {}
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    try:
        if as_user:
            shutil.chown(folder, "postgres")
        data, log = folder / "data", folder / "log"
        make: list[str | Path] = [initdb, "-D", data, "-U", "codes", "--auth=trust", "--no-sync", "--encoding=UTF8"]
        subprocess.run(make, check=True, capture_output=True, cwd=folder, timeout=60, **as_user)
        own = ["-c", "listen_addresses=", "-c", f"unix_socket_directories={folder}", "-c", "fsync=off"]
        with (
            log.open("w") as output,
            subprocess.Popen([server, "-D", data, *own], stderr=output, cwd=folder, **as_user) as process,
        ):
            try:
                yield connected(f"host={folder} user=codes dbname=postgres")
            finally:
                # An immediate end: nothing of it is kept.
                process.send_signal(3)
    finally:
        shutil.rmtree(folder)


def connected(address: str) -> str:
    for _ in range(300):
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return address
    raise AssertionError("Postgres did not start")


def ids(service: da.Sandbox, days: Any) -> list[str]:
    return sorted(row["id"] for row in service.client().scan_codes(["id"], allocated_time=days).to_dicts())


def days_of(service: da.Sandbox) -> list[str]:
    bodies: list[Any] = [request.body for request in service.requests]
    times = [condition["value"] for body in bodies for condition in body["filters"]["OR"][0]["AND"]]
    return sorted(str(dt.datetime.fromtimestamp(time / 1000, dt.UTC).date()) for time in times)


def test_duckdb_reads_the_folder_of_a_run(run: Run, service: da.Sandbox, tmp_path: Path) -> None:
    printed = run("duckdb_codes.py")
    table = service.client().scan_codes(allocated_time=JANUARY).collect()

    found = duckdb.read_parquet(f"{tmp_path}/codes/**/*.parquet").order("id").project("id").fetchall()
    assert [row[0] for row in found] == ids(service, JANUARY)
    used = sum(
        1
        for row in table.to_pylist()
        if row["code_status"] == 4 and row["allocated_time"].date().isoformat() == "2024-01-01"
    )
    assert any(line.split("│")[1:3] == [" 2024-01-01 ", f" {used:5} "] for line in printed.splitlines()), printed
    service.clear_requests()
    run("duckdb_codes.py")
    assert service.requests == []


def test_dlt_loads_the_days_since_the_last_run(run: Run, service: da.Sandbox, tmp_path: Path) -> None:
    run("dlt_codes.py", "2024-01-11")
    assert days_of(service) == [f"2024-01-{day:02}" for day in range(1, 11)]
    changed = ids(service, da.on("2024-01-09"))[0]
    [row] = [
        each for each in service.client().search_codes(allocated_time=da.on("2024-01-09")) if each["id"] == changed
    ]
    service.load("promotion_code", [{**row, "code_status": 4, "name": "changed since"}], replace=True)
    service.clear_requests()
    run("dlt_codes.py", "2024-01-21")
    assert days_of(service) == [f"2024-01-{day:02}" for day in range(7, 21)]

    with duckdb.connect(str(tmp_path / "codes.duckdb")) as warehouse:
        found = warehouse.sql("select id from warehouse.codes order by id").fetchall()
        names = warehouse.execute("select name from warehouse.codes where id = ?", [changed]).fetchall()
    assert [row[0] for row in found] == ids(service, da.days("2024-01-01", "2024-01-21"))
    assert names == [("changed since",)]


def test_postgres_has_every_code_once(run: Run, service: da.Sandbox, postgres: str) -> None:
    assert run("postgres_codes.py", postgres, "2024-01-01", "2024-02-01") == "2,170 codes\n"
    run("postgres_codes.py", postgres, "2024-01-31", "2024-02-02")

    with psycopg.connect(postgres) as connection:
        connection.execute("set time zone 'Asia/Ho_Chi_Minh'")
        found = connection.execute("select id, allocated_time, pool_id, code_status from codes order by id").fetchall()
    rows = service.client().scan_codes(allocated_time=da.days("2024-01-01", "2024-02-02")).collect(tz="UTC").to_pylist()
    names = ("id", "allocated_time", "pool_id", "code_status")
    assert found == sorted(tuple(row[name] for name in names) for row in rows)


def test_postgres_keeps_nothing_of_a_failure(run: Run, service: da.Sandbox, postgres: str) -> None:
    with service.fault("status", status=400, after=20), pytest.raises(AssertionError, match="RequestRejectedError"):
        run("postgres_codes.py", postgres, "2024-01-01", "2024-02-01")
    with psycopg.connect(postgres) as connection:
        assert connection.execute("select to_regclass('codes')").fetchone() == (None,)


def test_dask_distributes_the_tasks(run: Run, service: da.Sandbox) -> None:
    printed = run("dask_codes.py")
    table = service.client().scan_codes(allocated_time=da.days("2024-01-01", "2024-03-01")).collect()
    used = [row["pool_id"] for row in table.to_pylist() if row["code_status"] == 4]
    for pool in set(used):
        assert f"{pool}    {used.count(pool)}" in printed
    # Each day once, from two workers.
    assert len(days_of(service)) == 60 + 60
