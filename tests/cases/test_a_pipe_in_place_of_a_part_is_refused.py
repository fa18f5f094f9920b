"""A pipe or a device in place of a part of a folder is refused at once.

Source: a security review; open(2), "opening a FIFO blocks".
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

import dataaccess as da

pytestmark = [
    pytest.mark.timeout(20),
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files"),
]


def pipe(part: Path) -> None:
    os.mkfifo(part)


def foreign_pipe(part: Path) -> None:
    os.mkfifo(part)
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    os.chown(part, 12345, 12345)


def pipe_for_everybody(part: Path) -> None:
    os.mkfifo(part)
    part.parents[1].chmod(0o777)
    part.parent.chmod(0o777)


def device(part: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root makes devices")
    try:
        os.mknod(part, 0o600 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("this container makes no devices")


@pytest.mark.parametrize("make", [pipe, foreign_pipe, pipe_for_everybody, device])
def test_no_call_waits_for_a_part(sandbox: da.Sandbox, tmp_path: Path, make: Callable[[Path], None]) -> None:
    scan = sandbox.client().scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    folder = tmp_path / "codes"
    scan.to_folder(folder)
    (part,) = folder.glob("day=*/*.parquet")
    part.unlink()
    make(part)
    with pytest.raises(da.FolderError) as caught:
        scan.read_folder(folder)
    assert caught.value.path == str(part)
    assert [each.path for each in da.folder_status(folder).files if each.state == "damaged"] == [part]
    with pytest.raises(da.FolderError, match=str(folder)):
        scan.to_folder(folder)
