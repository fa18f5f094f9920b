"""Contenders for one task, timed in turns: what else the machine does in a minute then slows all of them alike.

Each result is checked as it is timed. It knows nothing of what the task is.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from report import Measure

US = "dataaccess"
Contenders = Mapping[str, Callable[[], Any]]


@dataclass(frozen=True)
class Race:
    """A task, and how many seconds each contender took in each round."""

    task: str
    seconds: Mapping[str, list[float]]

    def median(self, name: str) -> float:
        """The seconds of a round in the middle."""
        return statistics.median(self.seconds[name])

    def best_other(self) -> str:
        """The quickest contender that is not ours."""
        return min((name for name in self.seconds if name != US), key=self.median)

    def times(self, unit: str = "ms", parts: int = 1) -> list[Measure]:
        """The time of each contender, or of one part of a round where a round has many."""
        scale = {"ms": 1e3, "µs": 1e6}[unit] / parts
        return [Measure(f"{self.task}: {name}", self.median(name) * scale, unit) for name in self.seconds]

    def over(self, name: str, other: str = US) -> Measure:
        """How many times as long as another contender one takes; without a name, as long as ours."""
        return Measure(f"{self.task}: {name} over {other}", self.median(name) / self.median(other), "x")

    def best_over_us(self) -> Measure:
        """How many times as long as ours the quickest of the others takes."""
        return Measure(f"{self.task}: the best other over {US}", self.median(self.best_other()) / self.median(US), "x")


def run(task: str, contenders: Contenders, check: Callable[[Any], None] | None = None, *, rounds: int) -> Race:
    """Runs all contenders in turns, after a round that does not count; each round another one begins.

    `check` looks at each result, beyond the time taken; without it the contenders see to that themselves.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    names = list(contenders)
    for number in range(-1, rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            gc.collect()
            started = time.perf_counter()
            result = contenders[name]()
            taken = time.perf_counter() - started
            if check:
                check(result)
            del result
            if number >= 0:
                seconds[name].append(taken)
    return Race(task, seconds)
