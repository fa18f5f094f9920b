"""Two runs in one folder of an object store (O2, O11, O13): frozen, late, or ended between two requests."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from support.objects import Request, Store, error
from support.runs import ROWS, ROWS_OF_DAYS, by_day, code, some_days

import dataaccess as da

LOCK = "codes/.dataaccess/lock"
PART = "codes/day=2024-01-01/part-0.parquet"

# A lock of this process runs out after two seconds.
SCALE = 60
CHILD = """
import sys
import dataaccess as da
from dataaccess._native import set_time_scale

set_time_scale(60)
client = da.Client(sys.argv[1], concurrency=2)
scan = client.scan_codes(allocated_time=da.days("2024-01-01", "2024-01-09"))
try:
    scan.to_folder(sys.argv[2], refresh="all", progress=lambda progress: print(progress.done, flush=True))
except da.FolderLockedError as error:
    print(error.path, error.pid, file=sys.stderr)
    sys.exit(error.exit_code)
"""


def run(client: Any, store: Store, **options: Any) -> da.FolderReport:
    """Runs all days into the folder."""
    report: da.FolderReport = by_day(client).to_folder(store.url(), storage_options=store.options, **options)
    return report


def parts(store: Store) -> dict[str, bytes]:
    """The content of the folder."""
    return {name: store.get(name) for name in store.names() if name.endswith(".parquet")}


def until(is_done: Callable[[], bool]) -> None:
    """Waits a few seconds at most."""
    end = time.monotonic() + 10
    while not is_done():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are frozen the POSIX way")
def test_o11_a_frozen_run_replaces_nothing_of_its_successor(store: Store, time_scale: Any) -> None:
    with some_days(latency=0.15) as service:
        token = service.issue_token()
        with service.client() as client:
            run(client, store)
        environment = {**os.environ, **store.environment, "DATAACCESS_TOKEN": token}
        command = [sys.executable, "-c", CHILD, service.base_url, store.url()]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with subprocess.Popen(command, env=environment, text=True, **pipes) as frozen:
            assert frozen.stdout is not None
            while frozen.stdout.readline() != "2\n":
                pass
            frozen.send_signal(signal.SIGSTOP)
            codes = [code(day, n) for day, rows in enumerate(ROWS_OF_DAYS, 1) for n in range(rows)]
            changed = [{**one, "code_status": 4} for one in codes]
            service.load("promotion_code", changed, replace=True)
            time_scale(SCALE)

            def is_taken_over() -> bool:
                try:
                    with da.Client(service.base_url, token=token) as client:
                        return run(client, store, refresh="all").refreshed == len(ROWS_OF_DAYS)
                except da.FolderLockedError:
                    return False

            until(is_taken_over)
            successor = parts(store)
            frozen.send_signal(signal.SIGCONT)
            _, reported = frozen.communicate(timeout=30)
            assert (frozen.returncode, parts(store) == successor) == (75, True), reported
            # The folder, or a part of the other run: whose it is the lock does not say any more.
            assert re.fullmatch(rf"{store.url()}(/day=\S+)? None", reported.splitlines()[-1]), reported
    assert len(store.ids()) == len(set(store.ids())) == ROWS


@pytest.mark.parametrize("rows", [3, 14_987])
def test_o13_a_part_that_another_run_wrote_meanwhile_stays(store: Store, rows: int) -> None:
    # As of a run whose lock ran out between its check and its upload; the longer part is uploaded in pieces.
    codes = [{**code(1, number), "name": os.urandom(600).hex()} for number in range(rows)]
    with da.Sandbox() as service:
        service.load("promotion_code", codes)
        with service.client() as client:
            scan = client.scan_codes(["name"], allocated_time=da.days("2024-01-01", "2024-01-02"))
            for before in (None, b"of another run"):

                def written(request: Request) -> None:
                    if request.method in ("PUT", "POST") and ".parquet" in request.path:
                        store.hook = None
                        store.put(PART, b"newer than ours")

                if before is not None:
                    store.delete(PART)
                    scan.to_folder(store.url(), storage_options=store.options)
                store.hook = written
                with pytest.raises(da.FolderLockedError) as caught:
                    scan.to_folder(store.url(), storage_options=store.options, refresh="all")
                assert (caught.value.path, caught.value.exit_code, caught.value.retryable) == (
                    store.url(PART),
                    75,
                    True,
                )
                assert store.get(PART) == b"newer than ours"
    assert LOCK not in store.names()


def test_a_lost_response_to_an_upload_is_no_other_run(store: Store) -> None:
    lost = []

    def hook(request: Request) -> str | None:
        if request.method == "PUT" and ".parquet" in request.path and request.path not in lost:
            lost.append(request.path)
            return "lost"
        return None

    with some_days() as service, service.client() as client:
        store.hook = hook
        report = run(client, store)
        assert (report.rows, len(lost)) == (ROWS, len(ROWS_OF_DAYS))
        lost.clear()
        assert run(client, store, refresh="all").refreshed == len(lost) == len(ROWS_OF_DAYS)
    assert len(store.ids()) == ROWS


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("outcome", [(403, error("AccessDenied")), "lost"])
def test_o2_a_lock_whose_request_failed_is_removed(store: Store, number: int, outcome: Any) -> None:
    seen: list[Request] = []

    def hook(request: Request) -> Any:
        if request.method == "PUT" and request.path.endswith("lock"):
            seen.append(request)
            return outcome if len(seen) == number else None
        return None

    with some_days() as service, service.client(retry_for=0) as client:
        store.hook = hook
        with pytest.raises(da.FileError) as caught:
            run(client, store)
        assert caught.value.path == store.url(LOCK)
    assert store.names() == []
