"""The full figures of runs: kills without end, and each byte of a folder damaged."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import pytest
from support.damage import check, cuts, flips, scan_of
from support.killed_runs import killed
from support.runs import some_days

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

TASKS = 500
KILLS = 100


@pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way")
def test_s1_a_hundred_kills_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    outcomes = killed(tmp_path / "run", tasks=TASKS, kills=KILLS, seed=random.randrange(2**32))
    assert (outcomes.kills, outcomes.refusals) == (KILLS, 1)
    assert outcomes.requests / 10 < outcomes.failures < outcomes.requests / 3
    assert sum(outcomes.again) > KILLS // 4


def test_s5_each_byte_of_a_folder_counts(connect: Any, tmp_path: Path) -> None:
    chance = random.Random()
    with some_days() as service:
        client = connect(service)
        scan_of(client).to_folder(tmp_path / "whole")
        outcomes = [
            check(client, tmp_path / "whole", damage, tmp_path / "run") for damage in flips(tmp_path / "whole", chance)
        ]
        # The others are in rows, which only reading looks at.
        assert sum(outcomes) > len(outcomes) // 2
        assert all(check(client, tmp_path / "whole", damage, tmp_path / "run") for damage in cuts(tmp_path / "whole"))
