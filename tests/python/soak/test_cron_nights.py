"""Ten nights of cron with the command as a process: faults and kills, and what each exit code promises.

Exit code 0 means that the folder is the service. After any other end each day is as it was, or as the service has it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from support.commands import MODULE, run
from support.night_folders import LocalFolder
from support.story import BEGINS, TOKEN, Story

import dataaccess as da

pytestmark = [
    pytest.mark.soak,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform == "win32", reason="processes are killed the POSIX way"),
]

NIGHTS = 10
STARTS = 8
KILLED = -9
# What happens at the service, and how the command may end. A retry may bring the rows of any of them.
FAULTS: list[tuple[dict[str, Any], set[int]]] = [
    ({"kind": "status", "status": 503, "probability": 0.5}, {0, 75}),
    ({"kind": "status", "status": 400, "after": 1, "times": 1}, {0, 69}),
    ({"kind": "cut", "after_bytes": 200, "probability": 0.5}, {0, 75}),
    ({"kind": "reset", "probability": 0.5}, {0, 75}),
    ({"kind": "garbage", "probability": 0.5}, {0, 69}),
    ({"kind": "stall", "times": 1}, {0, 75}),
    ({"kind": "code", "code": 500, "probability": 0.5}, {0, 69, 75}),
    ({"kind": "expired_token", "after": 2}, {0, 77}),
    ({"kind": "shrink"}, {0, 65}),
]


def killed(words: list[str], seconds: float) -> tuple[int, str]:
    """Kills the command after some time, if it has not ended: its exit code and what it reports."""
    with subprocess.Popen([*MODULE, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(seconds)
        process.kill()
        _, reported = process.communicate()
    return process.returncode, reported


def test_exit_code_0_means_that_the_folder_is_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = random.randrange(2**32)
    chance, ended = random.Random(seed), Counter[int]()
    with da.Sandbox(now=BEGINS, token=TOKEN, switches={"latency": 0.05}) as service:
        story = Story(service, LocalFolder(tmp_path / "codes"), lambda *_: (0, "", ""))
        for name, value in {"BASE_URL": service.base_url, "TOKEN": TOKEN, "RETRY_FOR": "0.5", "TIMEOUT": "2"}.items():
            monkeypatch.setenv(f"DATAACCESS_{name}", value)
        for night in range(NIGHTS):
            story.begin(night)
            words = [*story.words(), "--strict", "--quiet"]
            for start in range(STARTS):
                where = (seed, night, start)
                before = story.folder.rows()
                fault, codes = chance.choice(FAULTS)
                if fault["kind"] == "shrink":
                    # A day that is new may have any number of rows.
                    fault = {**fault, "where": {"day": max(before, default="2024-01-01")}}
                is_killed = chance.random() < 0.4
                with nullcontext() if is_killed else service.fault(**fault):
                    if is_killed:
                        code, reported = killed(words, chance.uniform(0.1, 0.8))
                    else:
                        done = run(*words)
                        code, reported = done.returncode, done.stderr
                ended[code] += 1
                assert code in ({0, KILLED} if is_killed else codes), (*where, fault, code, reported)
                lines = [line for line in reported.splitlines() if "dataaccess: warning: " not in line]
                assert len(lines) == (code not in (0, KILLED)), (*where, reported)
                now, after = story.wanted(), story.folder.rows()
                odd = {day for day, rows in after.items() if rows not in (before.get(day), now[day])}
                assert odd == set(), (*where, fault, code, odd)
                assert before.keys() <= after.keys(), where
                if code == 0:
                    assert story.differing() == set(), where
                elif chance.random() < 1 / 2:
                    story.change()
            assert run(*words).returncode == 0
            assert story.differing() == set()
            assert run("status", story.folder.url, "--strict").returncode == 0
        story.platform.close()
    print(f"seed {seed}, exit codes {dict(ended)}")
    assert ended[KILLED] >= NIGHTS // 2
    assert ended.keys() >= {0, 69, 75}
    assert [path for path in (tmp_path / "codes").rglob("*.tmp") if path.stat().st_size] == []
