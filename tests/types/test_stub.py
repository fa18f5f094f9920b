"""The stub of the extension module has what the module has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_stub_is_that_of_the_module() -> None:
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", "../pyproject.toml", "dataaccess._native"]
    done = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
