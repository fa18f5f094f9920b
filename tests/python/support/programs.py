"""Real programs as children of a test: on loopback ports, with a configuration of their own, ended by their id."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

PACKAGES = {"nginx": "nginx-light", "squid": "squid"}


def found(name: str) -> str:
    """Where a program is; a test that needs one that is not there is skipped."""
    path = shutil.which(name, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/usr/local/sbin")
    if path is None:
        pytest.skip(f"{name} is not installed: .ci/interop, or apt-get install {PACKAGES[name]}")
    return path


def free_port() -> int:
    """A port without a listener."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def running(folder: Path, port: int, *command: str) -> Iterator[None]:
    """Runs a program for the time of a block, from when it listens at the port."""
    output = folder / "output"
    with output.open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as child:
        try:
            until = time.monotonic() + 20
            while not is_listening(port):
                assert child.poll() is None, output.read_text(encoding="utf-8")
                assert time.monotonic() < until, output.read_text(encoding="utf-8")
                time.sleep(0.02)
            yield
        finally:
            child.terminate()
            try:
                child.wait(timeout=10)
            except subprocess.TimeoutExpired:
                child.kill()


def is_listening(port: int) -> bool:
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
        return True
    return False
