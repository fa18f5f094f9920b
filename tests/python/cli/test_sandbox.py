"""`dataaccess sandbox`, as a process of its own."""

from __future__ import annotations

import errno
import os
import re
import signal
import socket
import subprocess
import sys
import sysconfig
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.commands import MODULE, run, serving

import dataaccess as da

SCRIPT = Path(sysconfig.get_path("scripts")) / ("dataaccess.exe" if os.name == "nt" else "dataaccess")


def test_it_prints_what_a_client_needs_and_serves_the_demo_data() -> None:
    with serving() as served:
        assert served.exports.keys() == {"DATAACCESS_BASE_URL", "DATAACCESS_TOKEN", "DATAACCESS_SANDBOX_ADMIN_TOKEN"}
        codes = served.client().search_codes(["id"], allocated_time=da.yesterday())
        assert codes
        assert codes[0]["id"].startswith("demo-")
        assert served.client().download_segment(5637051)["message"] == "Success"


def test_a_recording_is_replayed(tmp_path: Path) -> None:
    path = str(tmp_path / "exchanges.jsonl")
    with da.Sandbox.demo(until="2024-02-29") as sandbox, pytest.warns(da.DataAccessWarning):
        rows = sandbox.client(record=path).search_codes(["id"], allocated_time=da.on("2024-01-15"))
    with serving("--replay", path) as served:
        assert served.client().search_codes(["id"], allocated_time=da.on("2024-01-15")) == rows


def test_a_port_can_be_chosen() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        refused = run("sandbox", "--port", str(port))
    assert refused.returncode == 69
    assert refused.stdout == ""
    assert re.fullmatch(rf"dataaccess: .*127\.0\.0\.1:{port}.*\n", refused.stderr)
    with serving("--port", str(port)) as served:
        assert served.exports["DATAACCESS_BASE_URL"] == f"http://127.0.0.1:{port}"


@contextmanager
def heeding(number: signal.Signals) -> Iterator[None]:
    """A process that is started here does not ignore the signal, as it would under `nohup`."""
    before = signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.mark.skipif(sys.platform == "win32", reason="a signal to another process ends it there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, *([signal.SIGHUP] if os.name == "posix" else [])])
def test_signals_end_it_cleanly(number: signal.Signals) -> None:
    with heeding(number), serving() as served:
        served.client().search_codes(["id"], allocated_time=da.on("2024-01-15"))
        code, reported = served.stop(number)
        assert code == 0
        assert "Traceback" not in reported
        address = ("127.0.0.1", int(served.exports["DATAACCESS_BASE_URL"].rpartition(":")[2]))
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(address, timeout=1).close()


def test_it_prints_what_it_serves_and_no_token() -> None:
    with serving("--scopes", "item") as served:
        with pytest.raises(da.PermissionDeniedError):
            served.client().download_segment(5637051)
        url = served.exports["DATAACCESS_BASE_URL"]
        with urllib.request.urlopen(f"{url}/openapi.json") as response:
            paths = re.findall(r'"(/access/[^"]*)": \{', response.read().decode())
        _, reported = served.stop()
    assert [path for path in paths if f"POST {url}{path} " not in reported] == []
    assert f"GET  {url}/openapi.json " in reported
    assert "synthetic" in reported
    assert " item." in reported
    assert served.exports["DATAACCESS_TOKEN"] not in reported


def test_switches_and_names_are_taken() -> None:
    words = ["--switch", "generic_scope=crm.read", "--switch", "maximum_rows=2", "--host-names", "box.internal"]
    with serving(*words) as served:
        ids = [f"demo-customer-{number:04}" for number in range(1, 9)]
        with pytest.warns(da.MissingIdsWarning):
            rows = served.client().search_items("customer", ["customer_id"], da.col("customer_id").matches(ids))
        assert len(rows) == 2
        address = urllib.request.Request(served.exports["DATAACCESS_BASE_URL"] + "/openapi.json")
        address.add_header("Host", "box.internal")
        with urllib.request.urlopen(address) as response:
            assert response.status == 200
        _, reported = served.stop()
        assert " item, download, crm.read." in reported


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end the POSIX way")
def test_a_closed_output_ends_it_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*MODULE, "sandbox"], stdout=writing, stderr=subprocess.PIPE, encoding="utf-8", timeout=30, check=False
    )
    os.close(writing)
    assert done.returncode == 141
    assert done.stderr.endswith(" item, download.\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, where every write fails")  # noqa: PTH110
def test_an_output_that_is_full_is_reported() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        done = subprocess.run(
            [*MODULE, "sandbox"], stdout=full, stderr=subprocess.PIPE, encoding="utf-8", timeout=30, check=False
        )
    assert done.returncode == 74
    assert re.match("dataaccess: ", done.stderr.splitlines()[-1])
    assert done.stderr.endswith(f": {os.strerror(errno.ENOSPC)}\n")


@pytest.mark.parametrize("command", [MODULE, (str(SCRIPT),)], ids=["module", "script"])
def test_it_is_a_module_and_a_script(command: tuple[str, ...]) -> None:
    assert run("--version", command=command).stdout == f"dataaccess {da.__version__}\n"
    refused = run("sandbox", "--port=no", command=command)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "Traceback" not in refused.stderr
