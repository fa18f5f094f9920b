"""`progress=` of long calls: bars in terminals and notebooks, silence elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.commands import terminal

import dataaccess as da
from dataaccess._core.progress import Bar, follow

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")

DAYS = da.days("2024-01-01", "2024-01-08")


@pytest.fixture(scope="module")
def slow() -> Iterator[da.Sandbox]:
    with da.Sandbox.demo(until="2024-02-29", switches={"latency": 0.2}) as sandbox:
        yield sandbox


def last_line(text: str) -> str:
    """What a terminal shows in the end in the line that is written over itself."""
    line = ""
    for piece in text.split("\r"):
        line = piece + line[len(piece) :]
    return line.rstrip()


@pytest.mark.both_clients
@pytest.mark.slow
def test_a_scan_that_takes_long_shows_a_bar_and_removes_it(connect: Any, slow: da.Sandbox) -> None:
    threads = set(threading.enumerate())
    scan = connect(slow, concurrency=1).scan_codes(["id"], allocated_time=DAYS)
    with terminal() as written:
        scan.to_dicts()
        text = written()
    first = re.search(r"scan_codes: +\d+%\|.*?\| ([1-6])/7 tasks \[00:01<00:\d\d, \d+ rows?, [\d,]+ rows/s", text)
    assert first is not None, text
    assert last_line(text) == ""
    assert not [each for each in set(threading.enumerate()) - threads if "onitor" in type(each).__name__]


def test_a_bar_waits_for_a_second_and_is_drawn_ten_times_in_another(monkeypatch: pytest.MonkeyPatch) -> None:
    now, done = [0.0], iter(range(100))
    monkeypatch.setattr("dataaccess._core.progress.monotonic", lambda: now[0])
    with terminal() as written:
        bar = Bar("load", lambda n: da.Progress("rows", 100, n, rows=n), is_wanted=False)
        for _ in range(10):
            bar(next(done))
            now[0] += 0.1
        assert written() == ""
        for _ in range(90):
            now[0] += 1 / 64
            bar(next(done))
        shown = written()
        bar.close()
        assert last_line(shown + written()) == ""
    assert 10 <= shown.count("load: ") <= 16
    assert "[00:01<" in shown


def test_a_short_call_and_one_that_nobody_watches_show_nothing(
    connect: Any, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    with terminal() as written:
        connect(sandbox).scan_codes(["id"], allocated_time=DAYS).collect()
        with follow(False, "scan", pytest.fail) as report:
            assert report is None
        monkeypatch.setenv("TERM", "dumb")
        with follow(None, "scan", pytest.fail) as report:
            assert report is None
        assert written() == ""
    with follow(None, "scan", pytest.fail) as report:
        assert report is None


def test_true_shows_a_bar_anywhere_and_it_stays(connect: Any, sandbox: da.Sandbox, capfd: Any, tmp_path: Path) -> None:
    client = connect(sandbox, concurrency=1)
    client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-03")).to_folder(tmp_path)
    client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-05")).to_folder(tmp_path, progress=True)
    text = capfd.readouterr().err
    assert re.search(r"run of scan_codes: +50%\|.*\| 2/4 tasks", text)
    assert re.search(r"100%\|.*\| 4/4 tasks \[00:00<(00:00|\?), \d+ rows, [\d,]+ rows/s, [\d.]+ kB\]\n$", text)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_an_error_and_ctrl_c_end_a_bar(kind: type[BaseException]) -> None:
    def fail() -> None:
        with follow(True, "scan", lambda: lambda n: da.Progress("tasks", 7, n)) as report:
            assert report is not None
            report(3)
            raise kind

    with terminal() as written:
        with pytest.raises(kind):
            fail()
        assert re.search(r"3/7 tasks \[.*\r\n$", written())


def test_only_a_bar_that_was_asked_for_needs_tqdm(
    connect: Any, sandbox: da.Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)
    scan = connect(sandbox).scan_codes(["id"], allocated_time=DAYS)
    with terminal() as written:
        assert scan.collect().num_rows == 488
        assert written() == ""
    with pytest.raises(ImportError):
        scan.collect(progress=True)
    assert scan.last_stats.requests == 7


@pytest.mark.both_clients
def test_waiting_for_an_export_shows_its_entries(connect: Any, sandbox: da.Sandbox, capfd: Any) -> None:
    export = sandbox.start_export(rows=500, entries=2, seconds=7200, delay=3600)
    advance = {"on_update": lambda _: sandbox.advance(3600), "progress": True}
    connect(sandbox).wait_for_segment(export, timeout=60, poll=0.15, **advance)
    text = capfd.readouterr().err
    assert f"export {export}: [00:00" in text
    assert re.search(r"0%\|.*\| 0/2 entries \[", text)
    assert re.search(r"100%\|.*\| 2/2 entries \[.*1,000 rows.*\]\n$", text)


def test_a_bar_of_the_user_is_refused(client: Any) -> None:
    tqdm = pytest.importorskip("tqdm").tqdm
    for bar in (tqdm, tqdm(disable=True)):
        with pytest.raises(da.ValidationError) as caught:
            client.scan_codes(allocated_time=DAYS).collect(progress=bar)
        assert caught.value.problems[0].argument == "progress"


CALL = """
import sys
import dataaccess as da
{setup}
days = da.days("2024-01-01", "2024-01-08")
rows = da.Client("sandbox:demo?until=2024-02-29").scan_codes(["id"], allocated_time=days).to_dicts(progress=True)
sys.stdout.write(str(len(rows)))
"""
BROKEN = """
from types import SimpleNamespace
def write(_text):
    raise ValueError("the console has gone")
sys.stderr = SimpleNamespace(write=write, flush=bool)
"""


@pytest.mark.parametrize("setup", ["import os; os.environ['TQDM_DISABLE'] = '1'", "sys.stderr = None", BROKEN])
def test_a_call_goes_on_without_a_bar(setup: str) -> None:
    command = [sys.executable, "-W", "ignore", "-c", CALL.format(setup=setup)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "488", "")


NOTEBOOK = """
import dataaccess as da
client = da.Client({!r}, token={!r}, timezone="UTC", concurrency=1)
rows = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-08")).to_dicts()
"""


@pytest.mark.slow
def test_a_notebook_without_ipywidgets_shows_a_line_a_second(slow: da.Sandbox) -> None:
    manager = pytest.importorskip("jupyter_client.manager")
    warnings = "ignore:http:UserWarning"
    environment = {"PYTHONPATH": ":".join(sys.path), "PYTHONWARNINGS": warnings}
    kernel, client = manager.start_new_kernel(startup_timeout=240, kernel_name="python3", env=environment)
    try:
        outputs: list[Any] = []
        code = NOTEBOOK.format(slow.base_url, slow.issue_token())
        reply = client.execute_interactive(code, output_hook=outputs.append, timeout=40)
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok"
    assert {output["msg_type"] for output in outputs} <= {"status", "execute_input", "stream"}
    text = "".join(output["content"].get("text", "") for output in outputs)
    # After a second, and at the end.
    assert text.count("scan_codes: ") == 2, text
    assert re.search(r"\| 7/7 tasks \[00:01<00:00, 488 rows, [^\r]*\]\n$", text), text
