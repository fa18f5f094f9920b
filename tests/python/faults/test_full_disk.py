"""A run whose disk is full, or whose files may not grow (S2)."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.runs import (
    ROWS,
    by_day,
    parts,
    rows_in,
    tasks_done,
)

import dataaccess as da


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[None]:
    """A file system of so many bytes, where this user may have one."""
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
