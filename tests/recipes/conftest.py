"""The sandbox for the recipes, which find it in their environment, and a Postgres server."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import dataaccess as da

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


def _postgres(program: str) -> str | None:
    """A program of Postgres, which Debian keeps out of PATH."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return shutil.which(program, path=os.pathsep.join([*map(str, folders), os.environ.get("PATH", "")]))


@pytest.fixture
def postgres() -> Iterator[str]:
    """A new server that listens on a socket of its own alone; the string that connects to it."""
    initdb, server = _postgres("initdb"), _postgres("postgres")
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
                yield _connected(f"host={folder} user=codes dbname=postgres")
            finally:
                # An immediate end: nothing of it is kept.
                process.send_signal(3)
    finally:
        shutil.rmtree(folder)


def _connected(address: str) -> str:
    """Waits for the server."""
    for _ in range(300):
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return address
    raise AssertionError("Postgres did not start")
