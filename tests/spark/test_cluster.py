"""A standalone master and worker run the example, as they do for the figures of `docs/scale.md`."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.soak
@pytest.mark.timeout(400)
def test_a_cluster_writes_every_code_once_and_no_log_has_the_token() -> None:
    """The program checks what it measures, and ends with an error otherwise."""
    path = os.pathsep.join([os.environ["PYTHONPATH"], str(ROOT / "tests" / "python")])
    command: list[str | Path] = [sys.executable, ROOT / "benches" / "engines.py", "spark", "--codes", "3000"]
    with subprocess.Popen(  # noqa: S603 - our own program
        [*command, "--days", "31", "--workers", "1"],
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=390)
        finally:
            # If it took too long, its master, worker and executor end with it.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 0, printed
    figures = json.loads(printed.splitlines()[-1])
    assert (figures["engine"], figures["rows"], figures["workers"]) == ("spark", 3000, 1)
    assert figures["seconds"] > 0
