"""Scenario files: the data, behaviour, faults and exports of a sandbox, as a team commits them."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from dataaccess._sandbox.files import Members, parsed, typed
from dataaccess.errors import ConfigError, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dataaccess._sandbox.seed import Seeds

_MEMBERS = ("demo", "platform", "switches", "now", "seeds", "exports", "faults")
_DEMO_MEMBERS = ("until", "export_seconds")
SUFFIXES = (".toml", ".json")


@dataclass(frozen=True, slots=True)
class Scenario:
    """What a scenario file says.

    Attributes:
        path: The file.
        is_demo: Whether there is demo data.
        start: Arguments of the constructor.
        seeds: Seeds in the form of JSON seed files, and paths of such files.
        exports: Exports in the form of the control route.
        faults: Faults in the form of the control route.
    """

    path: Path
    is_demo: bool
    start: dict[str, Any] = field(default_factory=dict)
    seeds: list[Any] = field(default_factory=list)
    exports: list[Any] = field(default_factory=list)
    faults: list[Any] = field(default_factory=list)

    def fill(self, sandbox: Seeds) -> None:
        """Loads the rows, starts the exports and begins the faults."""
        for number, seed in enumerate(self.seeds):
            place = f"{self.path}: seeds[{number}]"
            if isinstance(seed, str):
                sandbox.seed(self.path.parent / seed)
            else:
                sandbox._seed(seed, place, self.path.parent, replace=False)
        for name, route in (("exports", "/exports"), ("faults", "/faults")):
            for number, one in enumerate(getattr(self, name)):
                with self._at(f"{name}[{number}]"):
                    sandbox._control.call("POST", route, one)

    @contextmanager
    def errors_of_start(self) -> Iterator[None]:
        """Errors of what the file says name it; others, as of a port in use, do not."""
        try:
            yield
        except (ConfigError, SandboxError) as error:
            name = str(error).partition(" ")[0].rstrip(":")
            if name not in {"switches", *self.start} and "switch" not in str(error):
                raise
            raise type(error)(f"{self.path}: {error}") from None

    @contextmanager
    def _at(self, place: str) -> Iterator[None]:
        """Errors of the sandbox name the place."""
        try:
            yield
        except (ConfigError, SandboxError) as error:
            raise type(error)(f"{self.path}: {place}: {error}") from None


def read_scenario(path: Path) -> Scenario:
    """Reads and checks a file. What the sandbox alone knows, such as the options of faults, it checks itself.

    Raises:
        ConfigError: The file cannot be read or parsed, or has a member that is unknown or of another type.
    """
    if path.suffix.lower() not in SUFFIXES:
        raise ConfigError(f"{path}: the suffix of a scenario is {' or '.join(SUFFIXES)}")
    members = Members(f"{path}", parsed(path), _MEMBERS)
    start: dict[str, Any] = {"switches": members.take("switches", dict) or {}}
    if (platform := members.take("platform", str)) is not None:
        # A file beside this one, such as dataaccess probe writes; a name has no suffix.
        start["platform"] = str(path.parent / platform) if platform.endswith(SUFFIXES) else platform
    if (now := members.take("now", str, datetime)) is not None:
        start["now"] = now
    demo = members.take("demo", bool, dict)
    if isinstance(demo, dict):
        options = Members(f"{path}: demo", demo, _DEMO_MEMBERS)
        if (until := options.take("until", str, date)) is not None:
            start["until"] = until
        if (seconds := options.take("export_seconds", int, float)) is not None:
            start["export_seconds"] = seconds
    lists = {name: members.take(name, list) or [] for name in ("seeds", "exports", "faults")}
    for name, kinds in (("seeds", (dict, str)), ("exports", (dict,)), ("faults", (dict,))):
        for number, one in enumerate(lists[name]):
            typed(f"{path}: {name}[{number}]", one, *kinds)
    return Scenario(path, is_demo=demo is not None and demo is not False, start=start, **lists)
