"""What a probe found out."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from dataaccess._probe import toml

if TYPE_CHECKING:
    from collections.abc import Callable, Container


@dataclass(frozen=True, slots=True)
class Finding:
    """What is known of one open point.

    Attributes:
        name: Its name in `docs/open-points.md`, or a setting of clients.
        value: What it is at this service; None if that was not settled.
        detail: What was seen, or why the point is open.
        is_switch: Whether a sandbox has a switch for it.
    """

    name: str
    value: Any
    detail: str
    is_switch: bool = True


# The settings of a platform, as docs/your-platform.md lists them.
PLATFORM = (
    "timezone",
    "source_timezone",
    "day_comparison",
    "code_value_type",
    "attrs_format",
    "known_row_cap",
    "item_types",
)

# Settings of clients, each with the open point that says it, and its value for the value of that point.
_OF_POINTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "timezone": ("day_zone", lambda zone: zone),
    "source_timezone": ("source_timezone", lambda zone: zone),
    # `exclusive` fits instants too.
    "day_comparison": ("day_comparison", lambda compared: "inclusive" if compared == "inclusive" else "exclusive"),
    "code_value_type": ("value_type", lambda taken: "normal" if taken == "required" else None),
    "attrs_format": ("attrs_format", lambda taken: "string" if taken == "string" else "array"),
    "known_row_cap": ("maximum_rows", lambda most: most),
}


@dataclass(slots=True)
class ProbeReport:
    """All findings of a probe: one for each open point.

    Attributes:
        base_url: The service.
        day: The day whose codes were looked at.
        requests: How many requests were sent.
        findings: In the order in which they were made.
        of_settings: Settings of clients that no open point names.
    """

    base_url: str
    day: str
    requests: int = 0
    findings: list[Finding] = field(default_factory=list)
    of_settings: list[Finding] = field(default_factory=list)

    @property
    def switches(self) -> dict[str, str | int | float]:
        """What `Sandbox(switches=…)` takes to behave as the service."""
        return {each.name: each.value for each in self.findings if each.is_switch and each.value is not None}

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments for clients of this service."""
        return {each.name: each.value for each in self._settings() if each.value is not None}

    def _settings(self) -> list[Finding]:
        """The settings of the platform, in their order, with what each was seen in."""
        points = {each.name: each for each in self.findings}
        found = {each.name: each for each in self.of_settings}
        for name, (point, of_value) in _OF_POINTS.items():
            if (each := points.get(point)) is not None:
                value = None if each.value is None else of_value(each.value)
                found[name] = Finding(name, value, each.detail, is_switch=False)
        return [found[name] for name in PLATFORM if name in found]

    def to_toml(self) -> str:
        """The report as a file that `tomllib` reads: its tables are `switches` and `client`."""
        lines = [toml.comment(f"What was found at {self.base_url}, with the codes of {self.day}.")]
        lines += ["", "[switches]"]
        lines += [
            f"{toml.pair(each.name, each.value)}  {toml.comment(each.detail)}"
            for each in self.findings
            if each.is_switch and each.value is not None
        ]
        lines += ["", "[client]", *(self.profile_lines())]
        noted = [each for each in self.findings if not each.is_switch and each.value is not None]
        if noted:
            lines += ["", "# Found, and no switch:"]
            lines += [toml.comment(f"- {each.name}: {each.value} ({each.detail})") for each in noted]
        unknown = [each for each in [*self.findings, *self.of_settings] if each.value is None]
        if unknown:
            lines += ["", "# Not known:"]
            lines += [toml.comment(f"- {each.name}: {each.detail}") for each in unknown]
        return "\n".join(lines) + "\n"

    def profile_lines(self, without: Container[str] = ()) -> list[str]:
        """The settings as lines of a profile, but for some."""
        return [
            f"{toml.pair(each.name, each.value)}  {toml.comment(each.detail)}"
            for each in self._settings()
            if each.value is not None and each.name not in without
        ]

    def to_dict(self) -> dict[str, Any]:
        """The report for `json.dumps`."""
        return {
            "base_url": self.base_url,
            "day": self.day,
            "requests": self.requests,
            "switches": self.switches,
            "client": self.settings,
            "findings": [asdict(each) for each in [*self.findings, *self.of_settings]],
        }
