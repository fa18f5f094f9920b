"""A pipe or a device in place of a CA bundle, token file, profile or recording is refused at once; so is a huge bundle.

Source: a security review.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")


def ca_bundle(path: Path) -> None:
    da.Client("https://cdp.example.com", token="tok", ca_bundle=path)


def cert_file(path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", str(path))
        da.Client("https://cdp.example.com", token="tok")


def token_file(path: Path) -> None:
    with serving(always(http())) as server:
        client = da.Client(server.base_url, token=da.token_file(path), retry_for=0)
        client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


def record(path: Path) -> None:
    da.Client("http://localhost:1", token="tok", record=path)


def replay(path: Path) -> None:
    da.Sandbox.replay(path).stop()


def scenario(path: Path) -> None:
    da.Sandbox.scenario(path).stop()


def platform(path: Path) -> None:
    da.Sandbox(platform=str(path)).stop()


USES = [ca_bundle, cert_file, token_file, record, replay, scenario, platform]


def outcome(use: Callable[[Path], None], path: Path) -> BaseException | None:
    """How a use ends within five seconds."""
    ended: list[BaseException | None] = []

    def run() -> None:
        try:
            use(path)
        except BaseException as error:
            ended.append(error)
        else:
            ended.append(None)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(5)
    if not ended:
        # A writer that comes and goes lets it end.
        os.close(os.open(path, os.O_RDWR | os.O_NONBLOCK))
        pytest.fail("it waits for a writer")
    return ended[0]


@pytest.mark.parametrize("use", USES)
def test_a_pipe(tmp_path: Path, use: Callable[[Path], None]) -> None:
    path = tmp_path / "pipe.toml"
    os.mkfifo(path, 0o600)
    error = outcome(use, path)
    assert isinstance(error, (da.ConfigError, da.SandboxError))
    assert str(path) in str(error)


@pytest.mark.parametrize("use", [use for use in USES if use is not scenario])
def test_a_device(use: Callable[[Path], None]) -> None:
    error = outcome(use, Path("/dev/null"))
    assert isinstance(error, (da.ConfigError, da.SandboxError))
    assert "/dev/null" in str(error)


@pytest.mark.parametrize("use", [ca_bundle, cert_file, replay])
def test_a_file_of_a_terabyte(tmp_path: Path, use: Callable[[Path], None]) -> None:
    path = tmp_path / "huge.toml"
    with path.open("wb") as file:
        file.truncate(2**40)
    path.chmod(0o600)
    error = outcome(use, path)
    assert isinstance(error, (da.ConfigError, da.SandboxError))
    assert str(path) in str(error)
