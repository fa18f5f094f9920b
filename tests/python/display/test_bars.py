"""`progress=` of long calls: bars in terminals, silence elsewhere."""

from __future__ import annotations

import gc
import re
import subprocess
import sys
import threading
import time
import traceback
from _thread import interrupt_main
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.programs import free_port
from support.terminal import terminal

import dataaccess as da
from dataaccess._core import bar
from dataaccess._core import progress as progress_module

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pseudo-terminals")

LATENCY = 0.2

# Of a sandbox of another process, without a zone.
WARNINGS = {"PYTHONWARNINGS": "ignore:timezone is not set:UserWarning,ignore:http:UserWarning"}


@pytest.fixture(scope="module")
def slow() -> Iterator[da.Sandbox]:
    with da.Sandbox.demo(until="2024-02-29", switches={"latency": LATENCY}) as sandbox:
        yield sandbox


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bars that show by themselves do so at once."""
    monkeypatch.setattr(bar, "_DELAY", 0.0)


def days(connect: Any, sandbox: da.Sandbox, stop: int, **options: Any) -> Any:
    """A scan of the days before that of January, one after the other."""
    client = connect(sandbox, concurrency=1, **options)
    return client.scan_codes(["id"], allocated_time=da.days("2024-01-01", f"2024-01-{stop:02}"))


def last_line(text: str) -> str:
    """What a terminal shows in the end in the line that is written over itself."""
    line = ""
    for piece in text.split("\r"):
        line = piece + line[len(piece) :]
    return line.rstrip()


@pytest.mark.both_clients
@pytest.mark.slow
def test_a_bar_shows_itself_after_a_second_and_goes(connect: Any, slow: da.Sandbox) -> None:
    threads = set(threading.enumerate())
    with terminal() as screen:
        days(connect, slow, 8).to_dicts()
        text = screen.shown()
    first = re.search(r"scan_codes: +(\d+)%\|.*?\| (\d)/7 tasks \[00:01<00:\d\d, (\d+) rows?, [\d,]+ rows/s", text)
    assert first is not None, text
    assert 1 <= int(first[2]) <= 6
    assert "7/7 tasks" in text
    assert last_line(text) == ""
    assert {thread for thread in threading.enumerate() if "onitor" in type(thread).__name__} <= threads


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("method", ["collect", "to_dicts", "to_csv", "to_folder"])
def test_a_waiting_thread_lets_the_time_go_on(
    connect: Any, slow: da.Sandbox, tmp_path: Path, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each method of a scan waits in its own way; an event loop has a timer for all of them."""
    monkeypatch.setattr(bar, "_PAUSE", 0.01)
    given = {"to_csv": [tmp_path / "codes.csv"], "to_folder": [tmp_path / "codes"]}.get(method, [])
    with terminal() as screen:
        getattr(days(connect, slow, 2), method)(*given)
        text = screen.shown()
    assert text.count("0 rows]") >= 2, text
    assert last_line(text) == ""


@pytest.mark.async_only
@pytest.mark.usefixtures("at_once")
def test_an_event_loop_lets_the_time_go_on(connect: Any, slow: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other kind of client has no loop."""
    monkeypatch.setattr(bar, "_TICK", 0.02)
    monkeypatch.setattr(bar, "_PAUSE", 0.01)
    with terminal() as screen:
        days(connect, slow, 2).collect()
        text = screen.shown()
    assert text.count("0 rows]") >= 3, text
    assert last_line(text) == ""


@pytest.mark.usefixtures("at_once")
def test_false_shows_nothing(connect: Any, sandbox: da.Sandbox) -> None:
    with terminal() as screen:
        days(connect, sandbox, 3).collect(progress=False)
        assert screen.shown() == ""


def test_a_short_call_shows_nothing(connect: Any, sandbox: da.Sandbox) -> None:
    with terminal() as screen:
        days(connect, sandbox, 3).collect()
        assert screen.shown() == ""


def test_true_shows_a_bar_anywhere_and_it_stays(connect: Any, sandbox: da.Sandbox, capfd: Any, tmp_path: Path) -> None:
    days(connect, sandbox, 3).to_folder(tmp_path)
    days(connect, sandbox, 5).to_folder(tmp_path, progress=True)
    text = capfd.readouterr().err
    assert re.search(r"run of scan_codes: +50%\|.*\| 2/4 tasks", text)
    assert re.search(r"100%\|.*\| 4/4 tasks \[00:00<(00:00|\?), \d+ rows, [\d,]+ rows/s, [\d.]+ kB\]\n$", text)


@pytest.mark.slow
def test_a_pipe_stays_silent_and_loads_nothing(slow: da.Sandbox) -> None:
    script = (
        "import sys, dataaccess as da; client = da.Client(sys.argv[1], token=sys.argv[2], concurrency=1); "
        "rows = client.scan_codes(['id'], allocated_time=da.days('2024-01-01', '2024-01-07')).to_dicts(); "
        "print(len(rows), 'tqdm' in sys.modules)"
    )
    given = [sys.executable, "-c", script, slow.base_url, slow.issue_token()]
    path = ":".join(sys.path)
    done = subprocess.run(given, capture_output=True, check=True, text=True, env={**WARNINGS, "PYTHONPATH": path})
    assert (done.stdout.split()[1], done.stderr) == ("False", "")


@pytest.mark.usefixtures("at_once")
def test_an_error_leaves_nothing(connect: Any, slow: da.Sandbox) -> None:
    scan = days(connect, slow, 4, retry_for=0)
    with terminal() as screen:
        with slow.fault("status", status=500, after=1), pytest.raises(da.ServerError):
            scan.collect()
        text = screen.shown()
    assert "/3 tasks" in text
    assert last_line(text) == ""


@pytest.mark.usefixtures("at_once", "ctrl_c")
def test_ctrl_c_leaves_nothing(slow: da.Sandbox) -> None:
    scan = slow.client(concurrency=1).scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-02-01"))
    timer = threading.Timer(1.5 * LATENCY, interrupt_main)
    with terminal() as screen:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            scan.collect()
        text = screen.shown()
    assert "/31 tasks" in text
    assert last_line(text) == ""


@pytest.mark.usefixtures("at_once")
def test_a_missing_tqdm_is_no_error(connect: Any, slow: da.Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with terminal() as screen:
        assert days(connect, slow, 3).collect().num_rows == 139
        assert screen.shown() == ""
        assert days(connect, slow, 3).collect(progress=True).num_rows == 139
        assert screen.shown() == "no progress bar without tqdm: pip install tqdm\r\n"


# Calls that wait for a service at which nothing listens.
WAITING: dict[str, Any] = {
    "scan_codes": lambda client: client.scan_codes(["id"], allocated_time=da.on("2024-01-15")).collect(),
    "export 1": lambda client: client.wait_for_segment(1, timeout=1),
}


@pytest.mark.both_clients
@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("call", WAITING)
def test_a_call_that_waits_says_why(connect: Any, call: str) -> None:
    port = free_port()
    client = connect(f"http://127.0.0.1:{port}", retry_for=1)
    with terminal() as screen:
        with pytest.raises((da.ConnectError, da.WaitTimeoutError)):
            WAITING[call](client)
        text = screen.shown()
    assert re.search(rf"{call}: .*waiting: cannot connect to 127\.0\.0\.1:{port}\]", text), text
    assert last_line(text) == ""


def lazy(scan: da.Scan) -> object:
    return scan.to_lazyframe().collect()


def arrow_table(scan: da.Scan) -> object:
    return pytest.importorskip("pyarrow").table(scan)


def duckdb_rows(scan: da.Scan) -> object:
    connection = pytest.importorskip("duckdb").connect()
    connection.register("codes", scan)
    return connection.sql("select count(*) from codes").fetchall()


@pytest.mark.slow
@pytest.mark.parametrize("use", [lazy, arrow_table, duckdb_rows])
def test_what_another_library_reads_shows_a_bar(connect: Any, slow: da.Sandbox, use: Any) -> None:
    with terminal() as screen:
        use(days(connect, slow, 10))
        deadline = time.monotonic() + 5
        while "dataaccess-progress" in [thread.name for thread in threading.enumerate()]:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        text = screen.shown()
    assert re.search(r"scan_codes: +(\d+)%\|.*?\| (\d)/9 tasks \[00:01<00:\d\d, ", text), text
    assert last_line(text) == ""


@pytest.mark.both_clients
@pytest.mark.usefixtures("at_once")
def test_a_call_shows_no_bar(connect: Any, slow: da.Sandbox) -> None:
    client = connect(slow, concurrency=1)
    with terminal() as screen:
        client.search_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-03"))
        assert screen.shown() == ""


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("place", ["__init__", "refresh"])
def test_an_interrupt_on_a_bar_shows_no_frame_of_it(
    connect: Any, slow: da.Sandbox, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    from tqdm import tqdm

    def interrupted(*_arguments: object, **_keywords: object) -> None:
        raise KeyboardInterrupt

    unraisable: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", unraisable.append)
    with terminal(), monkeypatch.context() as patch:
        patch.setattr(tqdm, place, interrupted)
        with pytest.raises(KeyboardInterrupt) as caught:
            days(connect, slow, 4).collect()
    shown = "".join(traceback.format_exception(caught.value))
    assert "tqdm" not in shown, shown
    assert "During handling" not in shown
    del caught
    gc.collect()
    assert unraisable == []


def test_a_name_cannot_command_the_terminal() -> None:
    with da.Sandbox() as sandbox, terminal() as screen:
        sandbox.declare("a\x1b[2J", 7, {"n": "int64"})
        sandbox.load("a\x1b[2J", [{"n": 1}], progress=True)
        text = screen.shown()
    assert "load a\\x1b[2J" in text
    assert "\x1b[2J" not in text


@pytest.mark.both_clients
@pytest.mark.usefixtures("at_once")
def test_waiting_for_an_export_shows_its_entries(connect: Any, sandbox: da.Sandbox) -> None:
    export = sandbox.start_export(rows=500, entries=2, seconds=7200, delay=3600)
    with terminal() as screen:
        connect(sandbox).wait_for_segment(export, timeout=60, poll=0.05, on_update=lambda _: sandbox.advance(3600))
        text = screen.shown()
    assert re.search(rf"export {export}: \[00:00\]", text)
    assert re.search(r"0%\|.*\| 0/2 entries \[", text)
    assert re.search(r"100%\|.*\| 2/2 entries \[.*1,000 rows", text)
    assert last_line(text) == ""


@pytest.mark.slow
def test_a_notebook_shows_a_bar_as_text_without_ipywidgets(slow: da.Sandbox) -> None:
    manager = pytest.importorskip("jupyter_client.manager")
    kernel, client = manager.start_new_kernel(kernel_name="python3", env={**WARNINGS, "PYTHONPATH": ":".join(sys.path)})
    try:
        outputs: list[Any] = []
        code = (
            "import dataaccess as da\n"
            f"client = da.Client({slow.base_url!r}, token={slow.issue_token()!r}, concurrency=1)\n"
            "client.scan_codes(allocated_time=da.days('2024-01-01', '2024-01-08')).collect()"
        )
        reply = client.execute_interactive(code, output_hook=outputs.append, timeout=40)
        assert reply["content"]["status"] == "ok"
    finally:
        client.stop_channels()
        kernel.shutdown_kernel(now=True)
    shown = [output["content"] for output in outputs]
    text = "".join(each["text"] for each in shown if "text" in each)
    data = [each["data"] for each in shown if "data" in each]
    bars = text + "".join(each.get("text/plain", "") for each in data)
    assert "scan_codes: " in bars
    assert "/7 tasks [" in bars
    assert 'class="dataaccess"' in data[-1]["text/html"]
    assert "Warning" not in text


def test_where_nobody_looks_nothing_is_counted() -> None:
    def counting() -> Any:
        raise AssertionError

    for off in (None, False):
        with progress_module.follow(off, "scan", counting) as report:
            assert report is None
