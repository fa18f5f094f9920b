"""What a probe found out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from dataaccess._probe import toml


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of one open point.

    Attributes:
        name: Its name in `docs/open-points.md`.
        value: What it is at this service; None if that was not settled.
        detail: What was seen, or why the point is open.
        is_switch: Whether a sandbox has a switch for it.
    """

    name: str
    value: str | int | float | None
    detail: str
    is_switch: bool = True


@dataclass(slots=True)
class ProbeReport:
    """All findings of a probe: one for each open point.

    Attributes:
        base_url: The service.
        day: The day whose codes were looked at.
        requests: How many requests were sent.
        findings: In the order in which they were made.
    """

    base_url: str
    day: str
    requests: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def switches(self) -> dict[str, str | int | float]:
        """What `Sandbox(switches=…)` takes to behave as the service."""
        return {each.name: each.value for each in self.findings if each.is_switch and each.value is not None}

    @property
    def settings(self) -> dict[str, str | int | float]:
        """Arguments for clients of this service."""
        found = self.switches
        settings = {"timezone": found["day_zone"]} if "day_zone" in found else {}
        # Of the other values the default of a client is one.
        return settings | ({"attrs_format": "string"} if found.get("attrs_format") == "string" else {})

    def to_toml(self) -> str:
        """The report as a file that `tomllib` reads: its tables are `switches` and `client`."""
        lines = [toml.comment(f"What `dataaccess probe` found at {self.base_url}, with the codes of {self.day}.")]
        lines += ["", "[switches]"]
        lines += [
            f"{toml.pair(each.name, each.value)}  {toml.comment(each.detail)}"
            for each in self.findings
            if each.is_switch and each.value is not None
        ]
        lines += ["", "[client]", *(toml.pair(name, value) for name, value in self.settings.items())]
        noted = [each for each in self.findings if not each.is_switch and each.value is not None]
        if noted:
            lines += ["", "# Found, and no switch:"]
            lines += [toml.comment(f"- {each.name}: {each.value} ({each.detail})") for each in noted]
        unknown = [each for each in self.findings if each.value is None]
        if unknown:
            lines += ["", "# Not known:"]
            lines += [toml.comment(f"- {each.name}: {each.detail}") for each in unknown]
        return "\n".join(lines) + "\n"

    def to_dict(self) -> dict[str, Any]:
        """The report for `json.dumps`."""
        return {
            "base_url": self.base_url,
            "day": self.day,
            "requests": self.requests,
            "switches": self.switches,
            "client": self.settings,
            "findings": [asdict(each) for each in self.findings],
        }
