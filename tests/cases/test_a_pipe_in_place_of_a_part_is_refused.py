"""A pipe or a device in place of a part of a folder is refused at once.

Source: open(2), "opening a FIFO blocks".
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import dataaccess as da

pytestmark = [
    pytest.mark.timeout(20),
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files"),
]


@pytest.mark.parametrize("kind", ["pipe", "pipe of another user", "pipe for everybody", "device"])
def test_no_call_waits_for_a_part(sandbox: da.Sandbox, tmp_path: Path, kind: str) -> None:
    scan = sandbox.client().scan_codes(["id"], allocated_time=da.on("2024-01-15"))
    folder = tmp_path / "codes"
    scan.to_folder(folder)
    (part,) = folder.glob("day=*/*.parquet")
    part.unlink()
    try:
        os.mknod(part, 0o600 | (stat.S_IFCHR if kind == "device" else stat.S_IFIFO), os.makedev(1, 5))
        if kind == "pipe of another user":
            os.chown(part, 12345, 12345)
    except PermissionError:
        pytest.skip("only root may")
    if kind == "pipe for everybody":
        folder.chmod(0o777)
        part.parent.chmod(0o777)
    with pytest.raises(da.FolderError) as caught:
        scan.read_folder(folder)
    assert caught.value.path == str(part)
    assert [each.path for each in da.folder_status(folder).files if each.state == "damaged"] == [part]
    with pytest.raises(da.FolderError):
        scan.to_folder(folder)
