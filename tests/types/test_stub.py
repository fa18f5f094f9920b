"""The stub of the extension module has what the module has."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from dataaccess import _native

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(ROOT not in Path(str(_native.__file__)).parents, reason="a wheel has no names for tests")
def test_the_stub_is_that_of_the_module() -> None:
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy.stubtest", "--mypy-config-file", "../pyproject.toml", "dataaccess._native"]
    done = subprocess.run(command, cwd=ROOT / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
