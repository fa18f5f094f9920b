"""Fixtures of the tests of the command."""

from __future__ import annotations

import io
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from support.commands import run_here

import dataaccess as da
from dataaccess.cli import main

__all__ = ["run_here"]


@dataclass(frozen=True)
class Ended:
    code: int
    output: str
    reported: str


Run = Callable[..., Ended]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command in this process, in a pipe or in a terminal of 100 columns."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("LINES", "40")

    def run(*words: str, terminal: bool = False, stdin: bytes = b"", keeps_warnings: bool = False) -> Ended:
        output, reported = io.BytesIO(), io.BytesIO()
        with monkeypatch.context() as patch, warnings.catch_warnings():
            for name, content in (("stdout", output), ("stderr", reported)):
                stream = io.TextIOWrapper(content, encoding="utf-8", newline="", write_through=True)
                patch.setattr(stream, "isatty", lambda: terminal)
                patch.setattr(sys, name, stream)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
            warnings.simplefilter("always" if keeps_warnings else "ignore", da.DataAccessWarning)
            return Ended(main(words), output.getvalue().decode(), reported.getvalue().decode())

    return run


@pytest.fixture
def demo(sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> da.Sandbox:
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    monkeypatch.setenv("DATAACCESS_TOKEN", sandbox.issue_token())
    return sandbox
