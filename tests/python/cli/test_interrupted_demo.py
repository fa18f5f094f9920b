"""`demo` and Ctrl-C: one line, and no files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support.commands import MODULE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals of POSIX")


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_ctrl_c_ends_the_demo_without_files(tmp_path: Path, delay: float) -> None:
    """Interrupted soon after the run into a folder is announced."""
    process = subprocess.Popen(  # noqa: S603 - our own command
        (*MODULE, "demo"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
    )
    with process:
        assert process.stdout
        assert any(line.startswith("$ dataaccess scan codes") for line in process.stdout)
        if delay:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(delay)
        process.send_signal(signal.SIGINT)
        _, reported = process.communicate(timeout=20)
    lines = [line for line in reported.splitlines() if ": warning: " not in line]
    assert lines == ["dataaccess: interrupted"]
    # Python ends itself by the signal if that interrupted an `exec`, as of a dataclass. Shells report both as 130.
    assert process.returncode in (130, -signal.SIGINT)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("dataaccess-")] == []
