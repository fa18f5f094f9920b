"""Ctrl-C while waiting: at once, whatever is waited for, and the server sees it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from support.interrupts import EARLY, STATES, Service, seconds_late, seconds_until_interrupted, until_gone
from support.raw_server import RESPONSE, always, http, serving
from support.scan_requests import wait_until
from support.searches import search
from support.streams import CLOSING, HEAD, OPENING, records, scan_of

import dataaccess as da

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="signals are sent the POSIX way"),
    pytest.mark.usefixtures("ctrl_c"),
]


@pytest.mark.fault("P3")
@pytest.mark.parametrize("state", [*EARLY, *STATES])
def test_ctrl_c_ends_a_call_and_its_connection(state: str) -> None:
    if state == "connect" and sys.platform != "linux":
        pytest.skip("only here a full queue responds with nothing")
    # The limit is 150 ms; this limit is larger, for busy machines, and is far below any time-out.
    assert seconds_late(state) < 2


def test_the_client_is_usable_after_ctrl_c() -> None:
    def hang_once(connection: Any, number: int) -> None:
        if number == 0:
            until_gone(connection)
        else:
            connection.sendall(http())

    with serving(hang_once) as server, da.Client(server.base_url, token="tok") as client:
        seconds_until_interrupted(lambda: search(client), lambda: len(server.requests) == 1)
        assert search(client) == RESPONSE["data"]["data"]
        assert len(server.requests) == 2


@pytest.mark.slow
@pytest.mark.parametrize("write", ["to_parquet", "to_csv", "to_jsonl"])
def test_ctrl_c_in_the_middle_of_a_write_leaves_no_file_that_comes_late(write: str, tmp_path: Path) -> None:
    body = http(OPENING + records(0, 300_000) + CLOSING)

    def interrupted_before_the_last_byte(connection: Any, _number: int) -> None:
        connection.sendall(body[:-1])
        os.kill(os.getpid(), signal.SIGINT)
        connection.sendall(body[-1:])

    with serving(interrupted_before_the_last_byte) as server, da.Client(server.base_url, token="tok") as client:
        with pytest.raises(KeyboardInterrupt):
            getattr(scan_of(client), write)(tmp_path / "rows")
        # What has arrived takes longer to write than Ctrl-C may take: if not, the file is there now.
        there = set(tmp_path.glob("rows"))
        time.sleep(1)
        assert set(tmp_path.iterdir()) == there


SLOW_DISK = """
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int fsync(int file) {
    close(open(getenv("SYNCHRONISING"), O_CREAT | O_WRONLY, 0600));
    sleep(1);
    return 0;
}
"""
WRITE = """
import asyncio, os, signal, sys, time
import dataaccess as da

signal.signal(signal.SIGINT, signal.default_int_handler)

async def awaited():
    async with da.AsyncClient(sys.argv[1], token="tok") as client:
        await getattr(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")), sys.argv[2])(sys.argv[3])

def called():
    with da.Client(sys.argv[1], token="tok") as client:
        getattr(client.scan_codes(["id"], allocated_time=da.on("2024-01-15")), sys.argv[2])(sys.argv[3])

try:
    asyncio.run(awaited()) if sys.argv[4] == "awaited" else called()
except KeyboardInterrupt:
    time.sleep(1.5)
    print("interrupted", os.listdir(os.path.dirname(sys.argv[3])))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or shutil.which("cc") is None, reason="a slow disk is made by a library")
@pytest.mark.parametrize(
    ("write", "how"),
    [(write, how) for write in ("to_parquet", "to_csv", "to_jsonl") for how in ("called", "awaited")],
)
def test_ctrl_c_while_the_disk_is_busy_leaves_no_file_that_comes_late(write: str, how: str, tmp_path: Path) -> None:
    source, library, marker = (tmp_path / name for name in ("slow.c", "slow.so", "synchronising"))
    source.write_text(SLOW_DISK)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    (tmp_path / "out").mkdir()
    environment = {**os.environ, "LD_PRELOAD": str(library), "SYNCHRONISING": str(marker)}
    with serving(always(http())) as server:
        command = [sys.executable, "-c", WRITE, server.base_url, write, str(tmp_path / "out" / "rows"), how]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
            wait_until(marker.exists)
            writer.send_signal(signal.SIGINT)
            assert writer.communicate(timeout=20)[0] == "interrupted []\n"


PULL = """
import signal, sys
import dataaccess as da
import pyarrow as pa

signal.signal(signal.SIGINT, signal.default_int_handler)
client = da.Client(sys.argv[1], token="tok")
scan = client.scan_items("store", ["n", "text"], da.col("n").equals("x"), item_type_id=7)
reader = pa.RecordBatchReader.from_stream(scan)
try:
    print(reader.read_next_batch().num_rows, flush=True)
    reader.read_next_batch()
except (KeyboardInterrupt, OSError):
    sys.stdout.write("interrupted\\n")
"""


def test_ctrl_c_ends_the_wait_of_another_library_for_a_batch() -> None:
    with Service(HEAD + OPENING + records(0, 100_000)).serving() as (server, _):
        command = [sys.executable, "-c", PULL, server.base_url]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as reader:
            assert reader.stdout is not None
            assert reader.stdout.readline() == "65536\n"
            time.sleep(0.2)
            reader.send_signal(signal.SIGINT)
            assert reader.communicate(timeout=5)[0] == "interrupted\n"


# polars raises a second KeyboardInterrupt a little later, which would end these tests.
STREAMING = """
import os, signal, sys, threading, time
import dataaccess as da

scan = da.Client(sys.argv[1], token="tok").scan_codes(["id"], allocated_time=da.on("2024-01-15"))
frame = scan.to_lazyframe()
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
started = time.monotonic()
try:
    frame.collect(engine="streaming")
except KeyboardInterrupt:
    os.write(1, str(time.monotonic() - started).encode())
    os._exit(0)
"""


@pytest.mark.slow
def test_ctrl_c_ends_a_streaming_query_of_polars() -> None:
    with Service(HEAD + OPENING).serving() as (server, _):
        run = subprocess.run(
            [sys.executable, "-c", STREAMING, server.base_url], capture_output=True, check=True, timeout=30
        )
    assert float(run.stdout) < 5
