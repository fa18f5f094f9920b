"""`demo` and Ctrl-C: one line, and no files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.commands import MODULE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")


@pytest.mark.parametrize("is_writing", [False, True])
def test_ctrl_c_ends_the_demo_without_files(tmp_path: Path, *, is_writing: bool) -> None:
    """Interrupted once the run into a folder is announced, and once it has begun."""
    process = subprocess.Popen(
        (*MODULE, "demo"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
    )
    with process:
        assert process.stdout
        assert any(line.startswith("$ dataaccess scan codes") for line in process.stdout)
        deadline = time.monotonic() + 20
        while is_writing and not list(tmp_path.glob("dataaccess-*/codes/*")):
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        _, reported = process.communicate(timeout=20)
    lines = [line for line in reported.splitlines() if ": warning: " not in line]
    assert lines == ["dataaccess: interrupted"]
    # Python ends itself by the signal if that interrupted an `exec`, as of a dataclass. Shells report both as 130.
    assert process.returncode in (130, -signal.SIGINT)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("dataaccess-")] == []
