"""A service that is down: a terminal shows that the command retries, and why."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs terminals of POSIX")

CLEAR = "\r\x1b[K"


@pytest.mark.parametrize("words", [["codes"], ["codes", "--folder", "codes"]], ids=" ".join)
def test_a_terminal_shows_why_a_request_is_retried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]
) -> None:
    from support.command_terminal import in_terminal

    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("DATAACCESS_RETRY_FOR", "1")
    monkeypatch.chdir(tmp_path)
    more = ["--on", "2024-01-15", "--base-url", "http://127.0.0.1:9"]
    code, printed = in_terminal(*words, *more)
    *shown, error = printed.replace(CLEAR, "").splitlines()
    assert code == 75
    assert shown
    assert all(re.match(r"retry .*\d\.\d s: .*127\.0\.0\.1:9", line) for line in shown), printed
    assert error.startswith("dataaccess: ")
