"""The command as a process: signals, pipes, terminals, and standard streams that are closed or full."""

from __future__ import annotations

import errno
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.commands import MODULE, in_terminal
from support.raw_server import serving

import dataaccess as da

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals, pipes, devices and the shell of POSIX")

DAY = ("--on", "2024-01-15")


INTERRUPTED = (signal.SIGINT, 130, "interrupted")
TERMINATED = (signal.SIGTERM, 143, "terminated")
CODES, FOLDER = ("codes", *DAY), ("codes", *DAY, "--folder", "codes")


@pytest.mark.slow
@pytest.mark.quiet
@pytest.mark.parametrize(
    ("ended", "words"),
    [
        (INTERRUPTED, CODES),
        (INTERRUPTED, FOLDER),
        (TERMINATED, CODES),
        (TERMINATED, (*CODES, "-o", "codes.csv")),
        (TERMINATED, FOLDER),
        (TERMINATED, ("segment", "1", "--wait")),
        (TERMINATED, ("check", "--day", "2024-01-15")),
    ],
)
def test_a_signal_ends_a_call_without_a_traceback_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ended: tuple[signal.Signals, int, str], words: tuple[str, ...]
) -> None:
    number, code, word = ended
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
            process.send_signal(number)
            output, reported = process.communicate(timeout=10)
    assert (process.returncode, output) == (code, "")
    assert re.fullmatch(f"dataaccess: {word}: .* codes; .*\n" if words == FOLDER else f"dataaccess: {word}\n", reported)
    assert [path.name for path in tmp_path.rglob("*.tmp")] == []
    assert [path.name for path in tmp_path.iterdir() if path.name != "codes"] == []


@pytest.mark.parametrize(
    ("words", "reported"),
    [(("codes", "--since", "2024-01-01"), ""), (("sandbox",), r"(?s).* item, download\.\n")],
    ids=["codes", "sandbox"],
)
def test_a_reader_that_ends_first_ends_it_quietly(demo: da.Sandbox, words: tuple[str, ...], reported: str) -> None:
    demo.clear_requests()
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*MODULE, *words], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=30, check=False)
    os.close(writing)
    assert (done.returncode, bool(demo.requests)) == (141, words[0] == "codes")
    assert re.fullmatch(reported, done.stderr)


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


def in_shell(redirected: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.join([*MODULE, *words])} {redirected}"
    return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=30, check=False, cwd=cwd)


FEW = ("codes", *DAY, "--attrs", "id", "--limit", "2")
# Its warning is the first message.
WARNING = (*CODES, "--base-url", "sandbox:demo?until=2024-02-29")
NO_SPACE = f"dataaccess: .*: {os.strerror(errno.ENOSPC)}\n"

# How the streams are redirected, the command, its exit code, and the lines that are printed and reported elsewhere.
STREAMS: list[tuple[str, tuple[str, ...], int, int, str]] = [
    (">&-", FEW, 0, 0, ""),
    ("2>&-", FEW, 0, 2, ""),
    ("<&-", FEW, 0, 2, ""),
    (">&- 2>&- <&-", FEW, 0, 0, ""),
    ("2>/dev/full", WARNING, 0, 73, ""),
    ("2>/dev/full", (*WARNING, "-v"), 0, 73, ""),
    ("2>/dev/full", (*WARNING, "-o", "a.csv"), 0, 0, ""),
    ("2>/dev/full", ("codes",), 2, 0, ""),
    (">/dev/full", CODES, 74, 0, NO_SPACE),
    (">/dev/full", (*CODES, "--format", "parquet"), 74, 0, NO_SPACE),
    (">/dev/full", ("segment", "5637051"), 74, 0, NO_SPACE),
    (">/dev/full", ("sandbox",), 74, 0, rf"(?s:.*\n)?{NO_SPACE}"),
]


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize(
    ("redirected", "words", "code", "rows", "reported"),
    STREAMS,
    ids=[f"{each[0]} {' '.join(each[1])}" for each in STREAMS],
)
def test_a_closed_stream_is_a_missing_one_and_only_a_full_standard_output_decides(
    redirected: str, words: tuple[str, ...], code: int, rows: int, reported: str, tmp_path: Path
) -> None:
    if "/dev/full" in redirected and not Path("/dev/full").exists():
        pytest.skip("needs /dev/full, where every write fails")
    done = in_shell(redirected, *words, cwd=tmp_path)
    assert (done.returncode, done.stdout.count("\n")) == (code, rows)
    assert re.fullmatch(reported, done.stderr)


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("target", [["-o", "a.csv"], ["--folder", "a"]], ids=" ".join)
def test_the_log_of_a_job_gets_one_line(target: list[str], tmp_path: Path) -> None:
    words = ["codes", *DAY, *target]
    done = in_shell("", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert re.fullmatch(rf"{re.escape(target[1])}: 73 rows.* \d+\.\d s\n", done.stderr)
    for silent in ("--quiet", "--json"):
        assert in_shell("", *words, silent, cwd=tmp_path).stderr == ""


@pytest.mark.usefixtures("demo")
def test_a_file_does_not_get_what_was_for_a_closed_stream(tmp_path: Path) -> None:
    done = in_shell(">&- 2>&-", "codes", *DAY, "-o", "a.csv", "--json", cwd=tmp_path)
    assert done.returncode == 0
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert (len(lines), lines[0][:8]) == (74, "id,name,")


def test_the_usual_end_by_sigterm_is_restored(run: Any) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert run("codes", *DAY, "--explain").code == 0
    assert signal.getsignal(signal.SIGTERM) == before
