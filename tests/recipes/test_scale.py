"""The program of the figures of `docs/scale.md` runs, and checks what it measures."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("engine", ["client", "dask"])
def test_an_engine_writes_every_code_once(engine: str) -> None:
    path = os.pathsep.join([os.environ["PYTHONPATH"], str(ROOT / "tests" / "python")])
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, ROOT / "benches" / "engines.py", engine, "--codes", "3000", "--days", "10", "--workers", "1"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        timeout=170,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [figures] = [json.loads(line) for line in done.stdout.splitlines()]
    assert (figures["engine"], figures["rows"], figures["workers"]) == (engine, 3000, 1)
