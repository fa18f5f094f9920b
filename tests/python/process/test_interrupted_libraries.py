"""Ctrl-C while another library runs the query: its requests end, in a terminal and in a notebook."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest
from support.raw_server import RawServer, http, serving

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way"),
    pytest.mark.slow,
]

# A response every 0.3 s, one after the other: 18 s for all days.
LATENCY = 0.3
# Seconds that the end of a query may take after Ctrl-C, on a busy machine.
LIMIT = 9

SCAN = """
import signal, sys
import dataaccess as da
import duckdb
import polars as pl
import pyarrow as pa

client = da.Client({address!r}, token="tok", concurrency=1, timezone="UTC")
scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-03-01"))
"""
# What a program or a cell does, by its library.
USES = {
    "lazy": "rows = scan.to_lazyframe().collect().height",
    "lazy streaming": "rows = scan.to_lazyframe().collect(engine='streaming').height",
    "polars": "rows = pl.DataFrame(scan).height",
    "pyarrow": "rows = pa.table(scan).num_rows",
    "pyarrow reader": "rows = sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(scan))",
    "duckdb": "rows = duckdb.sql('select count(id) from scan').fetchall()",
}


def slowly(connection: Any, _number: int) -> None:
    time.sleep(LATENCY)
    connection.sendall(http())


def until_begun(server: RawServer) -> None:
    deadline = time.monotonic() + 30
    while len(server.requests) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(server.requests) >= 4


@pytest.mark.fault("P15")
@pytest.mark.parametrize("use", USES)
def test_ctrl_c_ends_the_requests_of_a_query_in_a_terminal(use: str) -> None:
    program = SCAN + "signal.signal(signal.SIGINT, signal.default_int_handler)\n" + USES[use] + "\nprint('complete')\n"
    with serving(slowly) as server:
        command = [sys.executable, "-c", program.format(address=server.base_url)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            until_begun(server)
            run.send_signal(signal.SIGINT)
            sent = time.monotonic()
            out, errors = run.communicate(timeout=60)
        assert time.monotonic() - sent < LIMIT
        assert out == ""
        # Of Python, of this package, or of DuckDB.
        assert re.search("KeyboardInterrupt|Ctrl-C|interrupted", errors), errors
        assert run.returncode != 0
        assert len(server.requests) < 30


@pytest.fixture(scope="module")
def kernel() -> Iterator[Any]:
    manager = pytest.importorskip("jupyter_client.manager")
    found, client = manager.start_new_kernel(
        startup_timeout=240, kernel_name="python3", env={"PYTHONPATH": ":".join(sys.path)}
    )
    yield found, client
    client.stop_channels()
    found.shutdown_kernel(now=True)


@pytest.mark.parametrize("use", USES)
def test_the_stop_button_ends_the_requests_of_a_query_in_a_notebook(use: str, kernel: Any) -> None:
    found, client = kernel
    with serving(slowly) as server:
        client.execute_interactive(SCAN.format(address=server.base_url), timeout=60, output_hook=lambda _: None)
        # A kernel drops the requests that reach it while a failed one ends, unless it is asked not to.
        asked = client.execute(USES[use], stop_on_error=False)
        until_begun(server)
        found.interrupt_kernel()
        sent = time.monotonic()
        while (reply := client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != asked:
            pass
        assert time.monotonic() - sent < LIMIT
        assert reply["content"]["status"] == "error"
        assert len(server.requests) < 30
        # The kernel goes on, and so does the client.
        again = "print(len(client.search_codes(['id'], allocated_time=da.on('2024-01-15'))))"
        outputs: list[Any] = []
        done = client.execute_interactive(again, timeout=60, output_hook=outputs.append)
        assert done["content"]["status"] == "ok", done["content"]
        assert "".join(each["content"].get("text", "") for each in outputs) == "2\n"


HANDLER = """
signal.signal(signal.SIGINT, lambda *_: print("handled", flush=True))
scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-11"))
print(pa.table(scan).num_rows)
"""


def test_a_handler_of_the_program_decides_what_ctrl_c_means() -> None:
    with serving(slowly) as server:
        command = [sys.executable, "-c", (SCAN + HANDLER).format(address=server.base_url)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as run:
            until_begun(server)
            run.send_signal(signal.SIGINT)
            out, _ = run.communicate(timeout=60)
    assert sorted(out.split()) == ["20", "handled"]


OTHERS = """
import os, socket, threading
from dataaccess._scan.interrupt import ends_at_interrupt

assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
theirs, read = socket.socketpair()
theirs.setblocking(False)
assert signal.set_wakeup_fd(theirs.fileno()) == -1
assert not ends_at_interrupt()
assert signal.set_wakeup_fd(-1) == theirs.fileno()

found = []
other = threading.Thread(target=lambda: found.append(ends_at_interrupt()))
other.start()
other.join()
assert found == [False]
assert signal.set_wakeup_fd(-1) == -1

assert ends_at_interrupt() and ends_at_interrupt()
ours = signal.set_wakeup_fd(-1)
assert ours != -1
signal.set_wakeup_fd(ours)
if (child := os.fork()) == 0:
    os._exit(0 if signal.set_wakeup_fd(-1) == -1 else 1)
assert os.waitpid(child, 0)[1] == 0
print("ok")
"""


def test_event_loops_threads_and_children_keep_their_signals() -> None:
    program = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n" + OTHERS
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, text=True, timeout=60)
    assert run.stdout == "ok\n", run.stderr
