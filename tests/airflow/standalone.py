"""`airflow standalone` in a scratch folder: scheduler, API server with the web UI, triggerer and DAG processor."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
from scratch import ROOT, install_provider

_SECONDS_TO_START = 300
_SECONDS_TO_STOP = 6


class Airflow:
    """A running Airflow, by its REST API."""

    def __init__(self, url: str, log: Path) -> None:
        """Knows where it is."""
        self.url = url
        self.log = log
        self._client = httpx.Client(base_url=url, timeout=30, trust_env=False)

    def is_up(self) -> bool:
        """Whether every part of it reports that it runs."""
        try:
            parts = self._client.get("/api/v2/monitor/health").json()
        except (httpx.TransportError, ValueError):
            return False
        return all(
            parts.get(name, {}).get("status") == "healthy" for name in ("scheduler", "triggerer", "dag_processor")
        )

    def request(self, method: str, path: str, **options: Any) -> Any:
        """The JSON of a response; an error if it reports a failure."""
        if "Authorization" not in self._client.headers:
            token = self._client.get("/auth/token").json()["access_token"]
            self._client.headers["Authorization"] = f"Bearer {token}"
        response = self._client.request(method, path, **options)
        assert response.is_success, f"{method} {path}: {response.status_code} {response.text}"
        return response.json()

    def wait_for(
        self, what: str, find: Callable[[], Any], seconds: float, seen: Callable[[], Any] = lambda: None
    ) -> Any:
        """What a function finds, once it finds something. The failure has what another function sees instead."""
        deadline = time.monotonic() + seconds
        while not (found := find()):
            assert time.monotonic() < deadline, f"{what} did not happen within {seconds} s: {seen()}"
            time.sleep(0.3)
        return found

    def close(self) -> None:
        """Closes the connections to it."""
        self._client.close()


@contextmanager
def standalone(home: Path, dags: Path, settings: dict[str, str], python: str = sys.executable) -> Iterator[Airflow]:
    """Starts Airflow, that of an interpreter, and ends every process of it, however the test ends."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    install_provider(home / "site")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("AIRFLOW")}
    environment |= {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(port),
        "AIRFLOW__API__WORKERS": "1",
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__PARALLELISM": "4",
        "AIRFLOW__CORE__SIMPLE_AUTH_MANAGER_ALL_ADMINS": "True",
        "AIRFLOW__CORE__TEST_CONNECTION": "Enabled",
        "AIRFLOW__SCHEDULER__SCHEDULER_HEARTBEAT_SEC": "1",
        # A busy machine.
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",
        "PATH": f"{Path(python).parent}:{os.environ['PATH']}",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "python"), str(home / "site")]),
        **settings,
    }
    log = home / "standalone.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [python, "-m", "airflow", "standalone"],
            env=environment,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            with closing(Airflow(url, log)) as airflow:
                airflow.wait_for(
                    "the start of Airflow", lambda: process.poll() is not None or airflow.is_up(), _SECONDS_TO_START
                )
                assert process.poll() is None, log.read_text()[-3000:]
                yield airflow
        finally:
            _end(process)


def processes_of(session: int) -> list[int]:
    """The processes of a session: every part of this Airflow, whatever its parent is by now."""
    found = []
    for pid in (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()):
        with suppress(ProcessLookupError):
            if os.getsid(pid) == session:
                found.append(pid)
    return found


def _end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM leaves some parts behind, so SIGKILL follows."""
    process.terminate()
    deadline = time.monotonic() + _SECONDS_TO_STOP
    while time.monotonic() < deadline and processes_of(process.pid):
        process.poll()
        time.sleep(0.2)
    for pid in processes_of(process.pid):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    process.wait()
