"""Folders of another query, locked, damaged, full, or writable by others. `test_run_interruption.py` kills runs."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.damage import check, cuts, flips, scan_of
from support.raw_server import serving
from support.runs import HIDDEN, ROWS, by_day, left_in, parts, rows_in, some_days, tasks_done
from support.streams import response_of

import dataaccess as da

# A change of a scan of codes, and the field that the error names.
CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "attrs": ({"attrs": ["id", "name"]}, {}),
    "attrs in another order": ({"attrs": ["pool_id", "id"]}, {}),
    "code_status": ({"code_status": "sent"}, {}),
    "schema": ({"schema": {"pool_id": "string"}}, {}),
    "timezone": ({}, {"timezone": "Asia/Ho_Chi_Minh"}),
}


@pytest.mark.fault("S3")
@pytest.mark.parametrize("change", CHANGES)
def test_a_folder_of_another_query_is_refused(connect: Any, service: da.Sandbox, tmp_path: Path, change: str) -> None:
    def scan(options: dict[str, Any], settings: dict[str, Any]) -> Any:
        given = {"attrs": ["id", "pool_id"], "code_status": "used", **options}
        return connect(service, **settings).scan_codes(**given, allocated_time=da.days("2024-01-01", "2024-01-05"))

    scan({}, {}).to_folder(tmp_path)
    before = {path: path.read_bytes() for path in parts(tmp_path)}
    service.clear_requests()
    for use in ("to_folder", "read_folder"):
        with pytest.raises(kinds.Mismatch) as caught:
            getattr(scan(*CHANGES[change]), use)(tmp_path)
        assert (caught.value.field, caught.value.path) == (change.partition(" ")[0], str(tmp_path))
        assert caught.value.hint is not None
    assert service.requests == []
    assert {path: path.read_bytes() for path in parts(tmp_path)} == before
    # What is not the query may change.
    assert scan({}, {"concurrency": 1}).to_folder(tmp_path).rows == len(rows_in(tmp_path))


# Runs at a service that never responds, and prints a line once the run holds the lock.
HOLDER = """
import sys
import dataaccess as da

scan = da.Client(sys.argv[1], token="tok").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
scan.to_folder(sys.argv[2], progress=lambda progress: print("holds it", flush=True))
"""


@pytest.mark.fault("S4")
def test_a_folder_belongs_to_one_process_until_that_ends(connect: Any, tmp_path: Path) -> None:
    def give(connection: Any, number: int) -> None:
        if number:
            connection.sendall(response_of([{"id": "one"}]))
        else:
            assert connection.recv(1) == b""

    with serving(give) as server:
        scan = connect(server.base_url).scan_codes(["id"], allocated_time=da.on("2024-01-15"))
        command = [sys.executable, "-c", HOLDER, server.base_url, str(tmp_path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
            try:
                assert holder.stdout is not None
                assert holder.stdout.readline() == "holds it\n"
                while not server.requests:
                    time.sleep(0.01)
                with pytest.raises(da.FolderLockedError) as caught:
                    scan.to_folder(tmp_path)
                assert (caught.value.pid, caught.value.path) == (holder.pid, str(tmp_path))
                assert len(server.requests) == 1
            finally:
                holder.kill()
                holder.wait()
        # The system releases the lock of a killed process.
        assert scan.to_folder(tmp_path).rows == 1


@pytest.mark.slow
def test_two_runs_of_one_process_do_not_share_a_folder(connect: Any, tmp_path: Path) -> None:
    outcome: list[BaseException] = []

    def second(_progress: da.Progress) -> None:
        try:
            by_day(other).to_folder(tmp_path)
        except da.FolderLockedError as error:
            outcome.append(error)
            raise

    with some_days() as service:
        client, other = connect(service), service.client()
        # The first run goes on while the callback waits for its folder, which it does for two seconds.
        with service.fault("delay", seconds=10), pytest.raises(da.FolderLockedError) as caught:
            by_day(client).to_folder(tmp_path, progress=second)
        assert outcome == [caught.value]
        assert caught.value.pid == os.getpid()


SAMPLE = 40


@pytest.mark.fault("S5")
def test_a_damaged_part_is_reported_and_replaced(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    client = connect(service)
    whole = tmp_path / "whole"
    scan_of(client).to_folder(whole)
    chance = random.Random(5)
    turned = [
        check(client, whole, damage, tmp_path / "run") for damage in chance.sample(list(flips(whole, chance)), SAMPLE)
    ]
    # The others are in rows, which only reading looks at.
    assert SAMPLE // 2 < sum(turned) < SAMPLE
    for damage in chance.sample(list(cuts(whole)), SAMPLE):
        assert check(client, whole, damage, tmp_path / "run")


def test_a_part_of_another_task_is_reported(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    scan = by_day(connect(service))
    scan.to_folder(tmp_path)
    first, second, *_ = parts(tmp_path)
    first.write_bytes(second.read_bytes())
    with pytest.raises(da.ScanIncompleteError) as caught:
        scan.to_folder(tmp_path)
    (damage,) = caught.value.failed.values()
    assert isinstance(damage, kinds.Corrupt)
    assert (damage.path, damage.day, caught.value.exit_code) == (str(first), "2024-01-01", 65)


def test_several_damaged_parts_are_reported_together_and_replaced_by_one_refresh(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    scan = by_day(connect(service, retry_for=0))
    scan.to_folder(tmp_path)
    before = rows_in(tmp_path)
    first, second, third, *_ = parts(tmp_path)
    for path in (first, second):
        path.write_bytes(b"damaged")
    third.unlink()
    with service.fault("status", status=400, times=1), pytest.raises(da.ScanIncompleteError) as caught:
        scan.to_folder(tmp_path)
    errors = list(caught.value.failed.values())
    # Damage decides over a service that refuses, and a service that may answer later over both.
    assert ([error.exit_code for error in errors], caught.value.exit_code) == ([65, 65, 69], 65)
    with service.fault("status", status=503, times=1), pytest.raises(da.ScanIncompleteError) as caught:
        scan.to_folder(tmp_path)
    assert caught.value.exit_code == 75
    days = [error.day for error in errors if isinstance(error, kinds.Corrupt)]
    report = scan.to_folder(tmp_path, refresh=days)
    assert (report.rows, report.kept) == (ROWS, len(parts(tmp_path)) - 3)
    assert rows_in(tmp_path) == before


@contextmanager
def planted(path: Path) -> Iterator[None]:
    path.write_bytes(b"mine")
    yield
    path.unlink()


@contextmanager
def shared(path: Path) -> Iterator[None]:
    if sys.platform == "win32":
        pytest.skip("file modes do not show who may write")
    mode = path.stat().st_mode
    path.chmod(mode | 0o022)
    yield
    path.chmod(mode)


@contextmanager
def given_away(path: Path) -> Iterator[None]:
    if sys.platform == "win32" or os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(path, 12345, -1)
    yield
    os.chown(path, 0, -1)


# Whether the folder is of a run, what is wrong, where, and what the error says.
FOREIGN: dict[str, tuple[bool, Callable[[Path], AbstractContextManager[None]], str, str]] = {
    "a file in a new folder": (False, planted, "mine.parquet", "`mine.parquet`"),
    "a file in the folder": (True, planted, "mine.parquet", "`{}`"),
    "a file in a day": (True, planted, "day=2024-01-02/mine.parquet", "`{}`"),
    "a second part": (True, planted, "day=2024-01-02/part-1.parquet", "`{}`"),
    "a new folder for all": (False, shared, "", "chmod go-w {}"),
    "a part for all": (True, shared, "day=2024-01-01/part-0.parquet", "chmod go-w {}"),
    "a folder of another user": (True, given_away, "", " 12345,"),
    "a part of another user": (True, given_away, "day=2024-01-01/part-0.parquet", " 12345,"),
}


@pytest.mark.fault("S10")
@pytest.mark.parametrize("case", FOREIGN)
def test_what_others_own_or_may_write_is_refused_before_anything_is_sent_and_left_alone(
    connect: Any, service: da.Sandbox, tmp_path: Path, case: str
) -> None:
    is_run, wrong, name, says = FOREIGN[case]
    scan, folder = by_day(connect(service)), tmp_path / "run"
    folder.mkdir(mode=0o755)
    if is_run:
        scan.to_folder(folder)
        service.clear_requests()
    with wrong(folder / name):
        before = {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")}
        with pytest.raises(da.FolderError, match=re.escape(says.format(folder / name))) as caught:
            scan.to_folder(folder)
        assert (caught.value.reason, caught.value.path) == ("unusable", str(folder / name if is_run else folder))
        assert {path: path.is_file() and path.read_bytes() for path in folder.rglob("*")} == before
        assert service.requests == []
    assert scan.to_folder(folder).rows == ROWS
    assert left_in(folder) == [f"{HIDDEN}/lock"]


# Runs where files must not grow beyond some bytes, and once more where they may.
FULL = """
import json, resource, sys
from pathlib import Path
import dataaccess as da

base_url, folder, limit, *attrs = sys.argv[1:]
client = da.Client(base_url, concurrency=1)
scan = client.scan_codes(attrs or None, allocated_time=da.days("2024-01-01", "2024-01-09"))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), resource.RLIM_INFINITY))
try:
    scan.to_folder(folder)
except da.FileError as error:
    left = [str(path) for path in Path(folder).rglob("*") if path.is_file()]
    is_disk = isinstance(error, OSError)
    outcome = {"errno": error.errno, "path": error.path, "left": left, "is_disk": is_disk}
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
report = scan.to_folder(folder)
print(json.dumps({**outcome, "rows": report.rows, "kept": report.kept}))
"""


@pytest.mark.fault("S2")
@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
@pytest.mark.parametrize(
    ("limit", "attrs", "what", "keeps"),
    [
        (0, ["id"], "/.dataaccess/lock", False),
        (1_000, [], "/day=2024-01-01/part-0.parquet", False),
        # Between the sizes of the first two parts.
        (4_000, [], "/day=2024-01-02/part-0.parquet", True),
    ],
)
def test_a_file_that_may_not_grow_ends_the_run_and_what_is_done_is_kept(
    service: da.Sandbox, tmp_path: Path, limit: int, attrs: list[str], what: str, *, keeps: bool
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, service.base_url, str(tmp_path), str(limit), *attrs],
        env={**os.environ, "DATAACCESS_TOKEN": service.issue_token()},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )
    assert (done.returncode, done.stderr) == (0, "")
    outcome = json.loads(done.stdout)
    assert (outcome["errno"], outcome["is_disk"]) == (errno.EFBIG, True)
    assert outcome["path"].endswith(what)
    # No partial or temporary file is left.
    assert all(path.endswith(("/.dataaccess/lock", "/part-0.parquet")) for path in outcome["left"])
    assert (outcome["kept"] > 0) == keeps
    assert outcome["rows"] == len(rows_in(tmp_path)) == ROWS


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """A file system of this size in bytes, where this user may have one."""
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        mounted = None
    if mounted is None or mounted.returncode:
        pytest.skip("this user cannot mount anything")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="needs a tmpfs mount")
def test_a_full_disk_is_reported_and_the_run_continues_once_there_is_space(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    with small_disk(tmp_path, "80k"):
        scan = by_day(connect(service, concurrency=2))
        (tmp_path / "ballast").write_bytes(bytes(48 * 1024))
        with pytest.raises(da.FileError, match=rf"\b8\b.*{tmp_path / 'run'}") as caught:
            scan.to_folder(tmp_path / "run")
        assert caught.value.errno == errno.ENOSPC
        assert caught.value.report is not None
        done = len(caught.value.report.files)
        assert len(parts(tmp_path / "run")) == len(tasks_done(tmp_path / "run")) == done < 8
        (tmp_path / "ballast").unlink()
        assert scan.to_folder(tmp_path / "run").rows == len(rows_in(tmp_path / "run")) == ROWS
