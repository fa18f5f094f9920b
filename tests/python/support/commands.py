"""The command `dataaccess`, as a process of its own or in this one, and terminals in which people watch it."""

from __future__ import annotations

import os
import select
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, suppress

import pytest

import dataaccess as da
from dataaccess.cli import main

MODULE = (sys.executable, "-m", "dataaccess")

RunHere = Callable[..., tuple[int, str, str]]


def run(*words: str, command: tuple[str, ...] = MODULE) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*command, *words], capture_output=True, encoding="utf-8", timeout=30, check=False)


class Served:
    def __init__(self, process: subprocess.Popen[str], lines: int) -> None:
        assert process.stdout
        self.process = process
        self.exports: dict[str, str] = {}
        for _ in range(lines):
            export, assignment = shlex.split(process.stdout.readline())
            name, value = assignment.split("=", 1)
            assert export == "export"
            self.exports[name] = value

    def client(self) -> da.Client:
        return da.Client(self.exports["DATAACCESS_BASE_URL"], token=self.exports["DATAACCESS_TOKEN"])

    def stop(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        rest, reported = self.process.communicate(timeout=5)
        assert rest == ""
        return self.process.returncode, reported


@contextmanager
def serving(*words: str, **environment: str) -> Iterator[Served]:
    """Serves in a process. It prints no token where other machines connect."""
    lines = 1 if "--allow-remote" in words else 3
    process = subprocess.Popen(
        [*MODULE, "sandbox", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **environment},
    )
    with process:
        try:
            yield Served(process, lines)
        finally:
            process.kill()


@pytest.fixture
def run_here(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> RunHere:
    """Runs a command that ends by itself in this process: its code, its output, and its standard error."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def run(*words: str) -> tuple[int, str, str]:
        try:
            code = main(words)
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return code, *capsys.readouterr()

    return run


def open_terminal(columns: int) -> tuple[int, int]:
    import pty
    import termios

    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (40, columns))
    return ours, theirs


@contextmanager
def terminal() -> Iterator[Callable[[], str]]:
    """Makes standard error a terminal. Gives what was written since the last time."""
    ours, theirs = open_terminal(160)

    def shown() -> str:
        text = b""
        while select.select([ours], [], [], 0.05)[0]:
            text += os.read(ours, 65_536)
        return text.decode()

    try:
        # A descriptor, not a path.
        with open(theirs, "w", encoding="utf-8", buffering=1) as stream, redirect_stderr(stream):  # noqa: PTH123
            yield shown
    finally:
        os.close(ours)


def in_terminal(*words: str, columns: int = 100) -> tuple[int, str]:
    """Runs `dataaccess` in a terminal of this width: its exit code, and all that it printed."""
    ours, theirs = open_terminal(columns)
    process = subprocess.Popen([*MODULE, *words], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    printed = b""
    with process:
        try:
            # Linux reports the end of a terminal as an error.
            with suppress(OSError):
                while piece := os.read(ours, 1 << 16):
                    printed += piece
            return process.wait(30), printed.decode().replace("\r\n", "\n")
        finally:
            process.kill()
            os.close(ours)
