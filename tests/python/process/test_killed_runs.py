"""A run that is killed at any moment loses nothing and doubles nothing (S1). `pytest -m soak` kills it more often."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.killed_runs import killed

TASKS = 40
KILLS = 8


@pytest.mark.fault("S1")
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way")
def test_a_killed_run_continues_where_it_was(tmp_path: Path) -> None:
    killed_run = killed(tmp_path / "run", tasks=TASKS, kills=KILLS, seed=1)
    # A machine that is slow to kill lets more be done in between.
    assert killed_run.kills >= KILLS // 2
    assert killed_run.refusals == 1
    assert killed_run.failures > 0
    assert sum(killed_run.again) > 0, "no kill hit a task in flight"
