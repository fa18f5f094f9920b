"""The command as a process: signals, pipes and terminals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.commands import MODULE
from support.raw_server import serving
from support.terminal import in_terminal

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals, pipes and terminals of POSIX")

DAY = ("--on", "2024-01-15")


@pytest.mark.slow
@pytest.mark.quiet
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["codes", *DAY], "dataaccess: interrupted\n"),
        (["codes", *DAY, "--folder", "codes"], "dataaccess: interrupted: .* codes; .*\n"),
    ],
    ids=["codes", "scan"],
)
def test_ctrl_c_ends_a_call_without_a_traceback(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str], line: str
) -> None:
    monkeypatch.setenv("DATAACCESS_TOKEN", "tok")
    asked = threading.Event()
    with serving(lambda *_: asked.set()) as server:
        process = subprocess.Popen(
            [*MODULE, *words, "--base-url", server.base_url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        with process:
            assert asked.wait(10)
            process.send_signal(signal.SIGINT)
            output, reported = process.communicate(timeout=10)
    assert (process.returncode, output) == (130, "")
    assert re.fullmatch(line, reported)


def test_a_reader_that_ends_first_ends_it_quietly(demo: da.Sandbox) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = ["codes", "--since", "2024-01-01"]
    done = subprocess.run([*MODULE, *words], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
    assert demo.requests


def test_a_defect_is_reported_as_one(run: Any, demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **_more: object) -> None:
        raise da.errors.InternalError("panicked")

    monkeypatch.setattr(da.Client, "scan_codes", fail)
    ended = run("codes", *DAY)
    assert (ended.code, ended.output, ended.reported) == (70, "", "dataaccess: panicked\n")
    assert demo.base_url


def test_a_terminal_gets_a_table_and_colors(demo: da.Sandbox) -> None:
    words = ["codes", *DAY, "--attrs", "id,code_status", "--limit", "1"]
    code, printed = in_terminal(*words, columns=60)
    assert code == 0
    # A slow machine shows a bar first, and removes it.
    assert printed.rpartition("\r")[2] == (
        "\x1b[1mid               code_status\x1b[0m\ndemo-code-00015            3\n\x1b[2m1 row\x1b[0m\n"
    )
    assert demo.requests


@pytest.mark.slow
def test_no_color_is_obeyed_and_progress_is_removed(demo: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    code, printed = in_terminal("segment", "5637052", "--wait", "--timeout", "1.5", columns=120)
    assert code == 75
    bars, _, status = printed.rpartition("\r")
    assert "export 5637052: [00:01" in bars
    assert bars.rpartition("\r")[2].strip() == ""
    assert status.startswith("entry  state    rows")
    assert demo.requests


CLEAR = "\r\x1b[K"


@pytest.mark.parametrize("words", [["codes"], ["codes", "--folder", "codes"]], ids=" ".join)
def test_a_terminal_shows_why_a_request_is_retried(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: list[str]
) -> None:
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
