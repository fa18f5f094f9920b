"""What was measured, as a table for people and as JSON for comparisons, beside what it should reach."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from goals import GOALS

import dataaccess as da


@dataclass(frozen=True)
class Measure:
    """A figure."""

    name: str
    value: float
    unit: str

    @property
    def hope(self) -> str:
        """What it should reach, in words; nothing where nothing is hoped for."""
        goal = GOALS.get(self.name)
        return str(goal) if goal else ""

    @property
    def verdict(self) -> str:
        """Whether it is as good as hoped, in words."""
        goal = GOALS.get(self.name)
        if not goal:
            return ""
        return "reached" if goal.is_reached(self.value) else "MISSED"


def write(name: str, measures: list[Measure], folder: Path, *, smoke: bool = False) -> Path:
    """Prints the table, writes the JSON and returns its path; what tiny counts give has no goals."""
    width = max(len(measure.name) for measure in measures)
    for measure in measures:
        goal = "" if smoke else f"{measure.hope:<18} {measure.verdict}"
        print(f"  {measure.name:<{width}}  {measure.value:>12,.2f} {measure.unit:<10}  {goal}".rstrip())
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
        "measures": [asdict(measure) for measure in measures],
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps(reported, indent=2) + "\n", encoding="utf-8")
    return path
