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


# Standard streams that are closed or full, and SIGTERM.


def in_shell(redirected: str, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = f"{shlex.join([*MODULE, *words])} {redirected}"
    return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=30, check=False, cwd=cwd)


@pytest.mark.usefixtures("demo")
@pytest.mark.parametrize("redirected", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_a_closed_stream_is_a_missing_one(redirected: str, tmp_path: Path) -> None:
    done = in_shell(redirected, "codes", *DAY, "--attrs", "id", "--limit", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == (0 if ">&-" in redirected.split(" ") else 2)


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


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, where every write fails")
@pytest.mark.parametrize(
    ("words", "rows"), [(["codes", *DAY], 73), (["codes", *DAY, "-v"], 73), (["codes", *DAY, "-o", "a.csv"], 0)]
)
def test_a_full_standard_error_does_not_decide(
    words: list[str], rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Its warning is the first message.
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    done = in_shell("2>/dev/full", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout.count("\n")) == (0, rows)


@pytest.mark.usefixtures("demo")
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, where every write fails")
@pytest.mark.parametrize("words", [["codes", *DAY], ["codes", *DAY, "--format", "parquet"], ["segment", "5637051"]])
def test_a_full_standard_output_is_74(words: list[str], tmp_path: Path) -> None:
    done = in_shell(">/dev/full", *words, cwd=tmp_path)
    assert done.returncode == 74
    assert re.fullmatch(f"dataaccess: .*: {os.strerror(errno.ENOSPC)}\n", done.stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, where every write fails")
def test_a_full_standard_error_keeps_the_exit_code(tmp_path: Path) -> None:
    assert in_shell("2>/dev/full", "codes", cwd=tmp_path).returncode == 2


def test_the_usual_end_by_sigterm_is_restored(run: Any) -> None:
    before = signal.getsignal(signal.SIGTERM)
    assert run("codes", *DAY, "--explain").code == 0
    assert signal.getsignal(signal.SIGTERM) == before
