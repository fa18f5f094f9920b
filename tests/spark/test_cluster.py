"""A standalone master and worker run the example, as they do for the figures of `docs/scale.md`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.timeout(400)
def test_a_cluster_writes_every_code_once_and_no_log_has_the_token() -> None:
    """The program checks what it measures, and ends with an error otherwise."""
    path = os.pathsep.join([os.environ["PYTHONPATH"], str(ROOT / "tests" / "python")])
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, ROOT / "benches" / "engines.py", "spark", "--codes", "3000", "--days", "31", "--workers", "1"],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        encoding="utf-8",
        timeout=390,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    [figures] = [json.loads(line) for line in done.stdout.splitlines()]
    assert (figures["engine"], figures["rows"], figures["workers"]) == ("spark", 3000, 1)
    assert figures["seconds"] > 0
