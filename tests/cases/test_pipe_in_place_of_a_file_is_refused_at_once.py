"""A pipe or a device in place of a CA bundle, token file, profile or recording is refused at once; so is a huge bundle.

Source: open(2), "opening a FIFO blocks".
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.searches import search

import dataaccess as da

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
def test_it_is_refused_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: str, kind: str) -> None:
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
