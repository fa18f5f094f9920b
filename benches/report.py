"""What was measured, as a table for people and as JSON for comparisons."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import dataaccess as da


@dataclass(frozen=True)
class Measure:
    """A figure, and what it should reach: at least, or at most where less is better."""

    name: str
    value: float
    unit: str
    reach: float | None = None
    less_is_better: bool = False

    @property
    def is_reached(self) -> bool | None:
        """Whether it is as good as hoped; None where nothing is hoped for."""
        if self.reach is None:
            return None
        return self.value <= self.reach if self.less_is_better else self.value >= self.reach

    @property
    def hope(self) -> str:
        """What it should reach, in words; nothing where nothing is hoped for."""
        if self.reach is None:
            return ""
        return f"{'at most' if self.less_is_better else 'at least'} {self.reach:,}"

    @property
    def verdict(self) -> str:
        """Whether it is as good as hoped, in words."""
        return {None: "", True: "reached", False: "MISSED"}[self.is_reached]


def write(name: str, measures: list[Measure], folder: Path) -> Path:
    """Prints the table, writes the JSON and returns its path."""
    width = max(len(measure.name) for measure in measures)
    for measure in measures:
        print(
            f"  {measure.name:<{width}}  {measure.value:>12,.2f} {measure.unit:<10}  "
            f"{measure.hope:<18} {measure.verdict}".rstrip()
        )
    machine: dict[str, object] = {
        "processors": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
    }
    if hasattr(os, "getloadavg"):
        machine["load_of_the_last_minute"] = os.getloadavg()[0]
    reported = {
        "bench": name,
        "version": da.__version__,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine,
        "measures": [{**asdict(measure), "is_reached": measure.is_reached} for measure in measures],
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(reported, indent=2) + "\n", encoding="utf-8")
    return path
