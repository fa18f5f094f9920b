"""A scenario, seed or platform file that is a pipe or has no end is refused at once.

Source: a security review.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dataaccess as da

pytestmark = [
    pytest.mark.timeout(20),
    pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files"),
]

READERS: dict[str, Callable[[Path], Any]] = {
    "scenario": da.Sandbox.scenario,
    "platform": lambda path: da.Sandbox(platform=str(path)),
}


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_pipe_is_refused(reader: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    os.mkfifo(path)
    with pytest.raises(da.ConfigError, match="regular file"):
        reader(path)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_device_is_refused(reader: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.symlink_to("/dev/zero")
    with pytest.raises(da.ConfigError, match="regular file"):
        reader(path)


@pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
def test_a_file_of_any_size_is_refused(reader: Callable[[Path], Any], tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    with path.open("wb") as file:
        file.truncate(2**40)
    with pytest.raises(da.ConfigError, match="larger"):
        reader(path)
