"""The network: names, connections, TLS, proxies, time limits, retries."""

from __future__ import annotations

import logging
import socket
import ssl
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import trustme
from support.certificates import AN_AUTHORITY, DAY, FOR_CLIENTS, FOR_SERVERS, NOW, context, leaf
from support.interrupts import black_hole
from support.messages import ADDRESS, ROW, TOKEN, Cases, User, ask, client_of, data, logged, responses
from support.programs import free_port
from support.proxy import tunnel
from support.raw_server import Close, always, closing, http, in_turn, resetting, serving, silent

import dataaccess as da
from dataaccess import _native

NETWORK = Cases()

WHOLE = ROW


@contextmanager
def greeting(words: bytes) -> Iterator[int]:
    """A port that sends this to everyone."""

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(words)
                connection.recv(65536)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        yield int(listener.getsockname()[1])


@contextmanager
def faster(scale: int = 50) -> Iterator[None]:
    """A clock that is so many times faster."""
    _native.set_time_scale(scale)
    try:
        yield
    finally:
        _native.set_time_scale(1)


def refused(**options: Any) -> object:
    """A search at a port without a listener."""
    return ask(da.Client(f"http://127.0.0.1:{free_port()}", token=TOKEN, **options))


@NETWORK.of("a host that does not exist")
def _unknown_host(_user: User) -> object:
    return ask(da.Client("https://cdp.invalid", token=TOKEN, retry_for=0))


@NETWORK.of("a port that nobody listens on, at the first request")
def _first(_user: User) -> object:
    with faster():
        return refused()


@NETWORK.of("a port that nobody listens on, with retry_for")
def _retried(_user: User) -> object:
    with faster():
        return refused(retry_for=4)


@NETWORK.of("a port that accepts and sends nothing, within timeout")
def _silent(_user: User) -> object:
    with serving(silent(b"")) as server:
        return ask(client_of(server, timeout=0.1))


@NETWORK.of("a port that accepts no connection")
def _no_connection(_user: User) -> object:
    with faster(), black_hole() as (address, _):
        return ask(da.Client(address, token=TOKEN, retry_for=0))


@NETWORK.of("http:// where the port speaks TLS")
def _plain(_user: User) -> object:
    with serving(always(WHOLE), context(authority().issue_cert("localhost"))) as server:
        return ask(da.Client(server.base_url.replace("https", "http"), token=TOKEN, retry_for=0))


NETWORK.add(
    responses(
        {
            "a connection that is reset without a byte": resetting(b""),
            "a body that is shorter than its length": closing(WHOLE[:-9]),
            "a connection that is reset in the body": resetting(WHOLE[:-9]),
            "a response that is no HTTP": closing(b"220 mail ready\r\n\r\n"),
            "two lengths": always(http(headers=("Content-Length: 3",))),
            "a header of a megabyte": always(http(headers=("X-A: " + "a" * 2**20,))),
            "a chunk without a size": closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
            "a transfer encoding": closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n"),
        }
    )
)
NETWORK.add(
    responses(
        {
            "a body that stops, within timeout": silent(WHOLE[:-5]),
            "retries that end with timeout": in_turn(*[http(b"", "500 Broken")] * 50),
        },
        timeout=0.5,
        retry_for=60,
    )
)


@NETWORK.of("a body that stalls")
def _stalled(_user: User) -> object:
    with faster(40), serving(silent(WHOLE[:-5])) as server:
        return ask(client_of(server, timeout=900))


@NETWORK.of("a body that comes byte by byte")
def _dripping(_user: User) -> object:
    def drip(connection: Any, _number: int) -> None:
        connection.sendall(http(b"", length=2**20) + b"{")
        while True:
            connection.sendall(b" ")
            time.sleep(0.02)

    with faster(40), serving(drip) as server:
        return ask(client_of(server, timeout=900))


@NETWORK.of("a long body that is cut off at the same byte again and again")
def _cut_again_and_long(_user: User) -> object:
    body = data({"status": True, "data": [{"n": "a" * 1_000, "text": "x"}] * 9_000})
    with faster(), serving(closing(body[:-100])) as server:
        return ask(client_of(server, retry_for=600))


@NETWORK.of("a pause that the service asked for is longer than timeout")
def _pause(_user: User) -> object:
    busy = http(b"", "503 Busy", headers=("Retry-After: 30",))
    with logged(logging.WARNING) as lines, serving(in_turn(busy, WHOLE)) as server:
        client = client_of(server, retry_for=60)
        other = threading.Thread(target=lambda: _quietly(client))
        other.start()
        while not lines:
            time.sleep(0.01)
        try:
            return ask(client.with_options(timeout=0.1))
        finally:
            client.close()
            other.join()


def _quietly(client: Any) -> None:
    try:
        ask(client)
    except da.DataAccessError:
        return


# TLS.


@cache
def authority() -> trustme.CA:
    """A CA of these tests."""
    return trustme.CA()


def certified(label: str, server_of: Callable[[trustme.CA], ssl.SSLContext]) -> None:
    """A search at a server with this certificate."""

    def act(user: User) -> object:
        trusted = user.file("ca.pem", authority().cert_pem.bytes())
        with serving(always(WHOLE), server_of(authority())) as server:
            return ask(client_of(server, ca_bundle=trusted))

    NETWORK.of(label)(act)


certified("a certificate of an unknown CA", lambda _ca: context(trustme.CA().issue_cert("localhost")))
certified("a certificate that has expired", lambda ca: context(ca.issue_cert("localhost", not_after=NOW - DAY)))
certified("a certificate that is not valid yet", lambda ca: context(ca.issue_cert("localhost", not_before=NOW + DAY)))
certified("a certificate for another name", lambda ca: context(ca.issue_cert("other.example.com")))
certified("a certificate for nine names", lambda ca: context(leaf(ca, FOR_SERVERS, names=("a.example.com",) * 9)))
certified("a certificate without a name", lambda ca: context(leaf(ca, FOR_SERVERS, names=())))
certified("a certificate for clients", lambda ca: context(leaf(ca, FOR_CLIENTS)))
certified(
    "a server that wants a certificate", lambda ca: context(ca.issue_cert("localhost"), verify_mode=ssl.CERT_REQUIRED)
)
certified(
    "a server without a secure cipher suite",
    lambda ca: context(ca.issue_cert("localhost"), "AES128-SHA:@SECLEVEL=0", maximum_version=ssl.TLSVersion.TLSv1_2),
)


@NETWORK.of("a server with TLS 1.1")
def _old_tls(user: User) -> object:
    warnings.filterwarnings("ignore", "ssl.TLSVersion.TLSv1_1 is deprecated")
    trusted = user.file("ca.pem", authority().cert_pem.bytes())
    made = context(authority().issue_cert("localhost"), "ALL:@SECLEVEL=0", maximum_version=ssl.TLSVersion.TLSv1_1)
    with serving(always(WHOLE), made) as server:
        return ask(client_of(server, ca_bundle=trusted))


@NETWORK.of("the certificate of an authority as that of the server")
def _self_signed(user: User) -> object:
    own = leaf(None, AN_AUTHORITY)
    trusted = user.file("own.pem", own.cert_chain_pems[0].bytes())
    with serving(always(WHOLE), context(own)) as server:
        return ask(client_of(server, ca_bundle=trusted))


@NETWORK.of("a certificate of an unknown CA, with the CA certificates of the system")
def _system(_user: User) -> object:
    with serving(always(WHOLE), context(authority().issue_cert("localhost"))) as server:
        return ask(client_of(server))


@NETWORK.of("https:// where the port speaks no TLS")
def _no_tls(_user: User) -> object:
    with greeting(b"220 mail ready\r\n") as port:
        return ask(da.Client(f"https://localhost:{port}", token=TOKEN, retry_for=0))


# Proxies.


def proxied(label: str, response: bytes, address: str = ADDRESS) -> None:
    """A search through a proxy that sends this."""

    def act(_user: User) -> object:
        with serving(closing(response)) as proxy:
            client = da.Client(address, token=TOKEN, proxy=proxy.base_url, retry_for=0, allow_http=True)
            return ask(client)

    NETWORK.of(label)(act)


proxied("a proxy that wants a password", b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n")
proxied(
    "a proxy that wants a password, for http://",
    b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n",
    "http://cdp.example.com",
)
proxied("a proxy that is busy", b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
proxied("a proxy that forbids the tunnel", b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n")
proxied("a proxy that closes the connection", b"")


@NETWORK.of("a proxy that does not exist, in HTTPS_PROXY")
def _no_proxy(user: User) -> object:
    user.patch.setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
    return ask(da.Client(ADDRESS, token=TOKEN, retry_for=0))


@NETWORK.of("a search that waits for another one, with concurrency=1")
def _no_slot(_user: User) -> object:
    ended = threading.Event()

    def wait(_connection: Any, _number: int) -> None:
        ended.wait(20)
        raise Close

    def first() -> None:
        with suppress(da.DataAccessError):
            ask(client)

    with serving(wait) as server:
        client = client_of(server, concurrency=1)
        other = threading.Thread(target=first)
        other.start()
        try:
            while not server.requests:
                time.sleep(0.01)
            return client.download_segment(7, timeout=0.3)
        finally:
            ended.set()
            other.join()


@NETWORK.of("a proxy that nobody runs")
def _proxy_refused(_user: User) -> object:
    return ask(da.Client(ADDRESS, token=TOKEN, retry_for=0, proxy=f"http://127.0.0.1:{free_port()}"))


@NETWORK.of("a proxy that sends nothing")
def _proxy_silent(_user: User) -> object:
    with faster(), socket.create_server(("127.0.0.1", 0)) as listener:
        proxy = f"http://127.0.0.1:{listener.getsockname()[1]}"
        return ask(da.Client(ADDRESS, token=TOKEN, retry_for=0, proxy=proxy))


@NETWORK.of("a proxy that inspects TLS with a CA of its own")
def _inspecting(_user: User) -> object:
    certificate = context(authority().issue_cert("cdp.example.com"))
    with serving(always(WHOLE), certificate) as server, serving(tunnel(server.port)) as proxy:
        return ask(da.Client(ADDRESS, token=TOKEN, retry_for=0, proxy=proxy.base_url))


@NETWORK.of("a proxy with TLS whose CA is unknown")
def _proxy_tls(_user: User) -> object:
    with serving(always(WHOLE), context(authority().issue_cert("localhost"))) as proxy:
        return ask(da.Client(ADDRESS, token=TOKEN, retry_for=0, proxy=proxy.base_url))
