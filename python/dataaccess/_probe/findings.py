"""What a probe found out."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Finding:
    """The answer to one open point.

    Attributes:
        name: Its name in `docs/open-points.md`.
        value: What it is at this service; None if that is not known.
        detail: What was seen, or why it is not known.
        is_switch: Whether a sandbox can be switched to the value.
    """

    name: str
    value: str | int | float | None
    detail: str
    is_switch: bool = True


@dataclass(slots=True)
class ProbeReport:
    """All findings of a probe.

    Attributes:
        base_url: The service.
        day: The day whose codes were looked at.
        requests: How many requests were sent.
        findings: The answers, in the order of the questions.
        settings: Arguments for clients of this service.
    """

    base_url: str
    day: str
    requests: int = 0
    findings: list[Finding] = field(default_factory=list)
    settings: dict[str, str | int] = field(default_factory=dict)

    @property
    def switches(self) -> dict[str, str | int | float]:
        """What `Sandbox(switches=…)` takes to behave as the service."""
        return {each.name: each.value for each in self.findings if each.is_switch and each.value is not None}

    def to_toml(self) -> str:
        """The report as a file that `tomllib` reads: its tables are `switches` and `client`."""
        lines = [f"# What `dataaccess probe` found at {self.base_url}, with the codes of {self.day}."]
        for title, values in (("switches", self.switches), ("client", self.settings)):
            lines += ["", f"[{title}]"]
            lines += [f"{name} = {json.dumps(value)}" for name, value in values.items()]
        unknown = [each for each in self.findings if each.value is None]
        if unknown:
            lines += ["", "# Not known:"]
            lines += [f"# - {each.name}: {each.detail}" for each in unknown]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The report for `json.dumps`."""
        return {
            "base_url": self.base_url,
            "day": self.day,
            "requests": self.requests,
            "switches": self.switches,
            "client": self.settings,
            "findings": [
                {"name": each.name, "value": each.value, "detail": each.detail, "is_switch": each.is_switch}
                for each in self.findings
            ],
        }
