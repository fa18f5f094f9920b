"""What can go wrong before there is a connection: names, ports, addresses, clocks (C1 to C5, C9, C13, P13)."""

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
from support.operations import WHOLE, Operation
from support.programs import free_port
from support.raw_server import always, http, in_turn, serving

import dataaccess as da

ROWS = [{"id": "a"}, {"id": "b"}]
# A clock so many times faster than usual.
TIME_SCALE = 20


def search(client: Any) -> Any:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


def test_c1_an_unknown_host_is_reported_and_retried(connect: Any, ask: Operation) -> None:
    with pytest.raises(da.ConnectError, match=r"\bcdp\.invalid\b") as caught:
        ask(connect("https://cdp.invalid", retry_for=0.2))
    assert (type(caught.value), caught.value.phase, caught.value.attempts) == (da.ConnectError, "dns", 2)


def test_c2_a_refused_connection_is_reported_with_the_address(connect: Any, ask: Operation) -> None:
    with serving(always(WHOLE)) as server:
        address = server.base_url
    with pytest.raises(da.ConnectError, match=address.removeprefix("http://")) as caught:
        ask(connect(address, retry_for=0.2))
    assert (type(caught.value), caught.value.phase, caught.value.attempts) == (da.ConnectError, "tcp", 2)


def test_c2_the_first_contact_fails_soon_unless_retry_for_is_given(connect: Any, time_scale: Any) -> None:
    time_scale(TIME_SCALE)
    client = connect(f"http://127.0.0.1:{free_port()}")
    began = time.monotonic()
    with pytest.raises(da.ConnectError, match=r"\bbase_url\b"):
        search(client)
    assert time.monotonic() - began < 5
    with pytest.raises(da.ConnectError, match=r"\bretry_for \(1(\.0)? s\)"):
        search(client.with_options(retry_for=TIME_SCALE))


@contextmanager
def black_hole() -> Iterator[str]:
    """The address of a port whose queue is full: a connection attempt now gets no response."""
    waiting = []
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            one = socket.socket()
            one.settimeout(0)
            one.connect_ex(listener.getsockname())
            waiting.append(one)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    for one in waiting:
        one.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse what a full queue cannot take")
def test_c3_a_connection_without_a_response_is_given_up_with_the_call(connect: Any, ask: Operation) -> None:
    with black_hole() as address:
        started = time.monotonic()
        with pytest.raises(da.RequestTimeoutError) as caught:
            ask(connect(address, timeout=0.5))
        assert time.monotonic() - started < 5
        assert (caught.value.phase, caught.value.attempts) == ("headers", 1)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse what a full queue cannot take")
def test_c3_a_connection_without_a_response_is_given_up_by_itself(connect: Any, time_scale: Any) -> None:
    time_scale(TIME_SCALE)
    with black_hole() as address:
        with pytest.raises(da.RequestTimeoutError, match=rf"\b{address[7:]}\b.*\b0\.5 s") as caught:
            search(connect(address, retry_for=0.2))
        assert (caught.value.phase, caught.value.attempts) == ("connect", 2)


@contextmanager
def silent() -> Iterator[int]:
    """A port that accepts connections and sends nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]


@pytest.mark.slow
def test_c3_the_limit_is_for_tls_too(connect: Any, time_scale: Any) -> None:
    time_scale(TIME_SCALE)
    with silent() as port:
        with pytest.raises(da.RequestTimeoutError, match=rf"\blocalhost:{port}\b.*\b0\.5 s") as caught:
            search(connect(f"https://localhost:{port}", retry_for=0.2))
        assert (caught.value.phase, caught.value.attempts) == ("connect", 2)


@pytest.mark.slow
def test_c3_the_limit_is_for_the_proxy_too_which_is_then_to_blame(connect: Any, time_scale: Any) -> None:
    time_scale(TIME_SCALE)
    with silent() as port:
        output = rf"\bcdp\.invalid\b.*\b127\.0\.0\.1:{port} \(proxy\).*\b0\.5 s"
        with pytest.raises(kinds.Proxy, match=output) as caught:
            search(connect("https://cdp.invalid", proxy=f"http://127.0.0.1:{port}", retry_for=0.2))
        assert (caught.value.phase, caught.value.attempts) == ("proxy", 2)


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
def test_c5_one_dead_address_of_two_is_never_noticed(tmp_path: Path, addresses: tuple[str, str]) -> None:
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
def test_c9_plain_http_is_for_this_machine_unless_allowed(address: str) -> None:
    with pytest.raises(da.ConfigError, match=r"^base_url\b.*\ballow_http\b"):
        da.Client(address, token="tok")
    assert da.Client(address, token="tok", allow_http=True).base_url.startswith("http://")


def test_c9_plain_http_to_this_machine_stays_plain(connect: Any, ask: Operation) -> None:
    with serving(always(WHOLE)) as server:
        for host in ("127.0.0.1", "localhost", "LOCALHOST", "127.1"):
            assert ask(connect(f"http://{host}:{server.port}")) == ask.result
        assert len(server.requests) == 4


@pytest.mark.usefixtures("short_pauses")
def test_c13_a_date_to_retry_at_is_measured_by_the_services_own_clock(connect: Any, ask: Operation) -> None:
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
def test_p13_too_many_open_files_is_reported_and_passes(state: str) -> None:
    with serving(always(http())) as server:
        output = run(sys.executable, "-c", EXHAUSTED, server.base_url, state)
    assert output.stdout, output.stderr
    first, *rest = output.stdout.splitlines()
    assert first.startswith("ConnectError tcp" if state == "used" else ("ConnectError", "InternalError")), output
    assert os.strerror(errno.EMFILE) in first
    assert rest == [str(ROWS)]
    assert "panic" not in output.stderr
