"""What the command serves: demo data, no data, a scenario or a recording, and the rows of seeds."""

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
    seeds: tuple[tuple[str | None, str], ...]
    platform: str | None
    switches: tuple[tuple[str, str], ...]

    @property
    def is_demo(self) -> bool:
        """Whether the demo data is named, or nothing else is."""
        named = self.demo or self.until is not None
        return named or not (self.empty or self.seeds or self.scenario or self.replay)

    def check(self) -> None:
        """Refuses options that exclude each other."""
        named = self.demo or self.until is not None
        files = [file is not None for file in (self.scenario, self.replay)]
        if sum([named, self.empty, *files]) > 1:
            names = "--demo or --until, --empty, --scenario and --replay"
            raise click.UsageError(f"{names} exclude each other: write one")
        if self.seeds or self.platform is not None or self.switches:
            if self.scenario is not None:
                raise click.UsageError("--scenario has seeds, platform and switches: write them into its file")
            if self.replay is not None:
                raise click.UsageError(REPLAYED)

    @contextmanager
    def sandbox(self, access: dict[str, Any]) -> Iterator[Sandbox]:
        """The sandbox with the data, while the block runs."""
        behavior: dict[str, Any] = {"switches": {name: switch_value(text) for name, text in self.switches}}
        behavior |= {} if self.platform is None else {"platform": self.platform}
        with self._typed_wrong():
            if self.replay is not None:
                made = da.Sandbox.replay(self.replay, port=access["port"])
            elif self.scenario is not None:
                made = da.Sandbox.scenario(self.scenario, **access)
            elif self.is_demo:
                behavior |= {} if self.until is None else {"until": self.until}
                made = da.Sandbox.demo(**behavior, **access)
            else:
                made = da.Sandbox(**behavior, **access)
        with made as sandbox:
            with self._typed_wrong(), sandbox._starting():
                for name, path in self.seeds:
                    sandbox.seed(path, name=name)
            yield sandbox

    def __str__(self) -> str:
        """What is served, for people."""
        if self.replay is not None:
            return f"the recording {self.replay}"
        if self.scenario is not None:
            return f"the scenario {self.scenario}"
        demo = f"synthetic data{'' if self.until is None else f' up to {self.until}'}" if self.is_demo else ""
        rows = f"the rows of {', '.join(path for _, path in self.seeds)}" if self.seeds else ""
        return " and ".join(filter(None, (demo, rows))) or "no data"

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
