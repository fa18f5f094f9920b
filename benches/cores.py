"""Which cores of the machine a process runs on, where the system lets it choose: client and server must not share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CORES = sorted(os.sched_getaffinity(0)) if sys.platform == "linux" else []
CLIENT, SERVER = CORES[:1], CORES[-1:]


def keep_to(cores: list[int]) -> None:
    """Keeps all threads of this process, and those to come, to some cores; no core is no choice."""
    if sys.platform != "linux":
        return
    for thread in Path("/proc/self/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)
