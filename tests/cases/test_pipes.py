"""Pipes and devices in place of files."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.searches import search

import dataaccess as da

# A pipe or a device in place of a CA bundle, token file, profile or recording is refused at once; so is a huge bundle.
# Source: open(2), "opening a FIFO blocks".

pytestmark = [
    # A call that waits for a writer ends the test.
    pytest.mark.timeout(20),
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files"),
]

ADDRESS = "https://cdp.example.com"
USES: dict[str, Callable[[Path], object]] = {
    "ca_bundle": lambda path: da.Client(ADDRESS, token="tok", ca_bundle=path),
    "cert_file": lambda path: (os.environ.update(SSL_CERT_FILE=str(path)), da.Client(ADDRESS, token="tok")),
    "token_file": lambda path: search(da.Client("http://localhost:9", token=da.token_file(path), retry_for=0)),
    "record": lambda path: da.Client("http://localhost:9", token="tok", record=path),
    "replay": lambda path: da.Sandbox.replay(path).stop(),
    "platform": lambda path: da.Sandbox(platform=str(path)).stop(),
    "scenario": lambda path: da.Sandbox.scenario(path).stop(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", ["pipe", "device", "huge"])
def test_a_pipe_is_refused_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: str, kind: str) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "")
    path = Path("/dev/null") if kind == "device" else tmp_path / "file.toml"
    if kind == "pipe":
        os.mkfifo(path, 0o600)
    elif kind == "huge":
        if use not in ("ca_bundle", "cert_file", "replay"):
            pytest.skip("its size is of no matter")
        path.touch(0o600)
        os.truncate(path, 2**40)
    elif use == "scenario":
        pytest.skip("an empty scenario is one")
    with pytest.raises((da.ConfigError, da.SandboxError)) as caught:
        USES[use](path)
    assert str(path) in str(caught.value)


# A pipe or a device in place of a part of a folder is refused at once.
# Source: open(2), "opening a FIFO blocks".


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
