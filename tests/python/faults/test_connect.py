"""What can go wrong before there is a connection: names, ports, addresses, clocks."""

from __future__ import annotations

import email.utils
import errno
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.interrupts import black_hole
from support.operations import WHOLE, Operation
from support.programs import free_port
from support.raw_server import always, http, in_turn, serving
from support.searches import search

import dataaccess as da

ROWS = [{"id": "a"}, {"id": "b"}]
# A clock so many times faster than usual.
TIME_SCALE = 20


@pytest.mark.fault("C1", "C2")
@pytest.mark.parametrize(("host", "phase"), [("cdp.invalid", "dns"), ("127.0.0.1", "tcp")])
def test_a_failed_connection_is_reported_with_the_address_and_retried(
    connect: Any, ask: Operation, host: str, phase: str
) -> None:
    address = f"{host}:{free_port()}"
    with pytest.raises(da.ConnectError) as caught:
        ask(connect(f"http://{address}", retry_for=0.2, allow_http=True))
    assert (type(caught.value), caught.value.phase, caught.value.attempts) == (da.ConnectError, phase, 2)
    assert host in str(caught.value)


def test_the_first_contact_fails_soon_unless_retry_for_is_given(connect: Any, time_scale: Any) -> None:
    time_scale(TIME_SCALE)
    client = connect(f"http://127.0.0.1:{free_port()}")
    elapsed = []
    for each in (client, client.with_options(retry_for=TIME_SCALE)):
        with pytest.raises(da.ConnectError) as caught:
            search(each)
        elapsed.append(caught.value.elapsed)
    assert elapsed[0] < 0.8 < elapsed[1]


@contextmanager
def silent() -> Iterator[tuple[int, None]]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1], None


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse what a full queue cannot take")
def test_a_connection_without_a_response_ends_with_the_call(connect: Any, ask: Operation) -> None:
    with black_hole() as (address, _):
        with pytest.raises(da.RequestTimeoutError) as caught:
            ask(connect(address, timeout=0.2))
        assert (caught.value.phase, caught.value.attempts) == ("headers", 1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse what a full queue cannot take")
@pytest.mark.fault("C3")
@pytest.mark.parametrize(
    ("listening", "address", "proxy", "error", "phase"),
    [
        (black_hole, "{}", None, da.RequestTimeoutError, "connect"),
        (silent, "https://localhost:{}", None, da.RequestTimeoutError, "connect"),
        (silent, "https://cdp.invalid", "http://127.0.0.1:{}", kinds.Proxy, "proxy"),
    ],
    ids=["tcp", "tls", "proxy"],
)
def test_tcp_tls_and_proxy_have_ten_seconds_together(
    connect: Any, time_scale: Any, listening: Any, address: str, proxy: str | None, error: Any, phase: str
) -> None:
    time_scale(TIME_SCALE)
    with listening() as (port, _):
        client = connect(address.format(port), retry_for=0.4, proxy=proxy and proxy.format(port))
        with pytest.raises(error) as caught:
            search(client)
        assert (caught.value.phase, caught.value.attempts) == (phase, 2)
        assert str(port).removeprefix("http://") in str(caught.value)
        assert 2 * 10 / TIME_SCALE <= caught.value.elapsed < 5


SEARCH = """
import sys
import dataaccess as da

client = da.Client(sys.argv[1], token="tok", allow_http=True, retry_for=0, timeout=20)
print(client.search_codes(["id"], allocated_time=da.on("2024-01-15")))
"""


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Runs a program to its end, which must be soon."""
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=50)


def in_private_hosts(hosts: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Runs a program that sees another `/etc/hosts`; the machine's own stays as it is."""
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    script = 'mount --bind "$0" /etc/hosts && exec "$@"'
    return run("unshare", "--mount", *as_root, "sh", "-c", script, str(hosts), *command)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare (of util-linux) for names of its own")
@pytest.mark.parametrize("addresses", [("127.0.0.2", "127.0.0.1"), ("127.0.0.1", "127.0.0.2"), ("::1", "127.0.0.1")])
@pytest.mark.fault("C5")
def test_one_dead_address_of_two_is_never_noticed(tmp_path: Path, addresses: tuple[str, str]) -> None:
    hosts = tmp_path / "hosts"
    hosts.write_text("".join(f"{address} two.test\n" for address in addresses))
    if in_private_hosts(hosts, "true").returncode:
        pytest.skip("this system lets nobody mount, not even for a process of their own")
    ask = "import socket; print({found[4][0] for found in socket.getaddrinfo('two.test', 1)})"
    known = in_private_hosts(hosts, sys.executable, "-c", ask)
    assert all(address in known.stdout for address in addresses), known
    with serving(always(http())) as server:
        output = in_private_hosts(hosts, sys.executable, "-c", SEARCH, f"http://two.test:{server.port}")
        assert (output.stdout.strip(), output.stderr) == (str(ROWS), "")
        assert server.connections == 1


@pytest.mark.parametrize(
    "address",
    [
        "http://cdp.example.com",
        "http://10.0.0.1",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://127.example.com",
        "http://[::ffff:10.0.0.1]",
        "http://0.0.0.0",
    ],
)
@pytest.mark.fault("C9")
def test_plain_http_is_for_this_machine_unless_allowed(address: str) -> None:
    with pytest.raises(da.ConfigError):
        da.Client(address, token="tok")
    assert da.Client(address, token="tok", allow_http=True).base_url.startswith("http://")


def test_plain_http_to_this_machine_stays_plain(connect: Any, ask: Operation) -> None:
    with serving(always(WHOLE)) as server:
        for host in ("127.0.0.1", "localhost", "LOCALHOST", "127.1"):
            assert ask(connect(f"http://{host}:{server.port}")) == ask.result
        assert len(server.requests) == 4


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.fault("C13")
def test_a_date_to_retry_at_is_measured_by_the_services_own_clock(connect: Any, ask: Operation) -> None:
    ahead = email.utils.formatdate(time.time() + 3600, usegmt=True)
    busy = http(b"", "503 Busy", headers=(f"Date: {ahead}", f"Retry-After: {ahead}"))
    with serving(in_turn(busy, WHOLE)) as server:
        assert ask(connect(server.base_url)) == ask.result
        assert len(server.requests) == 2
    # Without the service's clock that would be an hour.
    busy = http(b"", "503 Busy", headers=(f"Retry-After: {ahead}",))
    with serving(always(busy)) as server:
        with pytest.raises(da.ThrottledError):
            ask(connect(server.base_url))
        assert len(server.requests) == 1


EXHAUSTED = """
import os, resource, sys
import dataaccess as da

used = sys.argv[2] == "used"
client = da.Client(sys.argv[1], token="tok", retry_for=0.2)
day = da.on("2024-01-15")
search = lambda: client.search_codes(["id"], allocated_time=day)
if used:
    search()
    # It keeps its connection, and this one needs another.
    first, client = client, da.Client(sys.argv[1], token="tok", retry_for=0.2)
resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
taken = []
try:
    while True:
        taken.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
try:
    search()
except da.DataAccessError as error:
    output = f"{type(error).__name__} {getattr(error, 'phase', None)} {error}"
for one in taken:
    os.close(one)
print(output)
print(search())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("state", ["used", "fresh"])
@pytest.mark.fault("P13")
def test_too_many_open_files_is_reported_and_passes(state: str) -> None:
    with serving(always(http())) as server:
        output = run(sys.executable, "-c", EXHAUSTED, server.base_url, state)
    assert output.stdout, output.stderr
    first, *rest = output.stdout.splitlines()
    assert first.startswith("ConnectError tcp" if state == "used" else ("ConnectError", "InternalError")), output
    assert os.strerror(errno.EMFILE) in first
    assert rest == [str(ROWS)]
    assert "panic" not in output.stderr
