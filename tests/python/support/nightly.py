"""The nightly job of the examples, as cron starts it: a process with a folder, a day and a token file."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from support.pages import ROOT

SCRIPT = ROOT / "examples" / "nightly.py"


@dataclass
class Job:
    """The job for one service and folder."""

    base_url: str
    folder: str
    token_file: Path
    environment: dict[str, str] = field(default_factory=dict)

    def give(self, token: str) -> None:
        """Writes the token file."""
        self.token_file.touch(mode=0o600)
        self.token_file.write_text(token)

    def command(self, today: str, retry_for: float) -> list[str]:
        """The command of a night."""
        options = ["--today", today, "--token-file", str(self.token_file), "--retry-for", str(retry_for)]
        return [sys.executable, str(SCRIPT), self.folder, *options]

    @contextmanager
    def started(self, today: str, retry_for: float = 20, within: tuple[str, ...] = ()) -> Iterator[Night]:
        """Starts a night, within a command that limits it."""
        with subprocess.Popen(
            [*within, *self.command(today, retry_for)],
            env={**self.environment, "DATAACCESS_BASE_URL": self.base_url},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield Night(process)
            finally:
                process.kill()

    def succeeds(self, today: str) -> None:
        """Runs a night, of which cron has nothing to report."""
        with self.started(today) as night:
            night.succeeds()

    def fails(self, today: str, retry_for: float = 20, within: tuple[str, ...] = ()) -> tuple[int, str]:
        """Runs a night that fails. Gives the exit code and the line."""
        with self.started(today, retry_for, within) as night:
            return night.fails()


@dataclass(frozen=True)
class Night:
    """A process of the job."""

    process: subprocess.Popen[str]

    def succeeds(self) -> None:
        """Waits for a success, which prints nothing."""
        output = self.process.communicate(timeout=50)
        assert (self.process.returncode, *output) == (0, "", "")

    def fails(self) -> tuple[int, str]:
        """Waits for a failure, which prints one line. Gives the exit code and the line."""
        output, line = self.process.communicate(timeout=50)
        assert output == ""
        assert line.startswith("nightly: ")
        assert line.count("\n") == 1
        return self.process.returncode, line
