"""What the command serves: demo data, no data, a scenario or a recording."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

import dataaccess as da
from dataaccess.cli.ending import USAGE, CommandError, option_of
from dataaccess.cli.values import switch_value
from dataaccess.errors import ConfigError, SandboxError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dataaccess.sandbox import Sandbox

REPLAYED = "--replay takes --port, --json and --quiet alone: a recording has the behavior of its service"


@dataclass(frozen=True, slots=True)
class ServedData:
    """The options for data and behaviour."""

    demo: bool
    until: str | None
    empty: bool
    scenario: str | None
    replay: str | None
    platform: str | None
    switches: tuple[tuple[str, str], ...]

    @property
    def is_demo(self) -> bool:
        """Whether the demo data is named, or nothing else is."""
        named = self.demo or self.until is not None
        return named or not (self.empty or self.scenario or self.replay)

    def check(self) -> None:
        """Refuses options that exclude each other."""
        named = self.demo or self.until is not None
        files = [file is not None for file in (self.scenario, self.replay)]
        if sum([named, self.empty, *files]) > 1:
            names = "--demo or --until, --empty, --scenario and --replay"
            raise click.UsageError(f"{names} exclude each other: write one")
        if self.platform is not None or self.switches:
            if self.scenario is not None:
                raise click.UsageError("--scenario has platform and switches: write them into its file")
            if self.replay is not None:
                raise click.UsageError(REPLAYED)

    def start(self, access: dict[str, Any]) -> Sandbox:
        """A sandbox with the data."""
        behavior: dict[str, Any] = {"switches": {name: switch_value(text) for name, text in self.switches}}
        behavior |= {} if self.platform is None else {"platform": self.platform}
        with self._typed_wrong():
            if self.replay is not None:
                return da.Sandbox.replay(self.replay, port=access["port"])
            if self.scenario is not None:
                return da.Sandbox.scenario(self.scenario, **access)
            if self.is_demo:
                return da.Sandbox.demo(until=self.until, **behavior, **access)
            return da.Sandbox(**behavior, **access)

    def __str__(self) -> str:
        """What is served, for people."""
        if self.replay is not None:
            return f"the recording {self.replay}"
        if self.scenario is not None:
            return f"the scenario {self.scenario}"
        if not self.is_demo:
            return "no data"
        return f"synthetic data{'' if self.until is None else f' up to {self.until}'}"

    @contextmanager
    def _typed_wrong(self) -> Iterator[None]:
        """A refused switch or file was typed wrong. Other errors, such as a port in use, come from the sandbox."""
        from dataaccess._core.paths import local_path  # loads the core

        try:
            yield
        except ConfigError as error:
            is_of_scenario = self.scenario is not None and str(error).startswith(local_path(self.scenario))
            if is_of_scenario or option_of(str(error)) is None:
                raise CommandError(str(error), USAGE) from None
            raise
        except SandboxError as error:
            text = str(error)
            if text.startswith(("switch ", "there is no switch ")):
                raise CommandError(f"--switch: {text.removeprefix('switch ')}", USAGE) from None
            raise
