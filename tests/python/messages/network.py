"""The network: names, connections, TLS, proxies, time limits, retries."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import trustme
from support.certificates import AN_AUTHORITY, CASES, FOR_SERVERS, Server, context, leaf, speaking
from support.interrupts import black_hole
from support.messages import ADDRESS, ROW, TOKEN, Cases, User, ask, client_of, data, logged
from support.programs import free_port
from support.raw_server import Close, Responder, always, closing, http, in_turn, resetting, serving, silent

import dataaccess as da
from dataaccess import _native

NETWORK = Cases()


@contextmanager
def faster(scale: int = 50) -> Iterator[None]:
    """A clock that is so many times faster."""
    _native.set_time_scale(scale)
    try:
        yield
    finally:
        _native.set_time_scale(1)


def at(address: str, **options: Any) -> object:
    return ask(da.Client(address, **{"token": TOKEN, "retry_for": 0, **options}))


def asked(respond: Responder, scale: int = 1, **options: Any) -> Callable[[User], object]:
    """A search at a server that responds so, with a clock that runs faster by this factor."""

    def act(_user: User) -> object:
        with faster(scale), serving(respond) as server:
            return ask(client_of(server, **options))

    return act


def drip(connection: Any, _number: int) -> None:
    connection.sendall(http(b"", length=2**20) + b"{")
    while True:
        connection.sendall(b" ")
        time.sleep(0.02)


LONG = data({"status": True, "data": [{"n": "a" * 1_000, "text": "x"}] * 9_000})
NETWORK.table(
    {
        "a host that does not exist": lambda _user: at("https://cdp.invalid"),
        "a port that nobody listens on, at the first request": faster(10)(
            lambda _user: ask(da.Client(f"http://127.0.0.1:{free_port()}", token=TOKEN))
        ),
        "a port that nobody listens on, with retry_for": faster()(
            lambda _user: at(f"http://127.0.0.1:{free_port()}", retry_for=4)
        ),
        "a port that accepts and sends nothing, within timeout": asked(silent(b""), timeout=0.1),
        "a connection that is reset without a byte": asked(resetting(b"")),
        "a body that is shorter than its length": asked(closing(ROW[:-9])),
        "a connection that is reset in the body": asked(resetting(ROW[:-9])),
        "a response that is no HTTP": asked(closing(b"220 mail ready\r\n\r\n")),
        "two lengths": asked(always(http(headers=("Content-Length: 3",)))),
        "a header of a megabyte": asked(always(http(headers=("X-A: " + "a" * 2**20,)))),
        "a chunk without a size": asked(closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")),
        "a transfer encoding": asked(closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n")),
        "a body that stops, within timeout": asked(silent(ROW[:-5]), timeout=0.5),
        "retries that end with timeout": asked(in_turn(*[http(b"", "500 Broken")] * 50), timeout=0.5, retry_for=60),
        "a body that stalls": asked(silent(ROW[:-5]), 40, timeout=900),
        "a body that comes byte by byte": asked(drip, 40, timeout=900),
        "a long body that is cut off at the same byte again and again": asked(closing(LONG[:-100]), 50, retry_for=600),
    }
)


@NETWORK.of("a port that accepts no connection")
def _no_connection(_user: User) -> object:
    with faster(), black_hole() as (address, _):
        return at(address)


def quietly(client: da.Client) -> None:
    with suppress(da.DataAccessError):
        ask(client)


@NETWORK.of("a pause that the service asked for is longer than timeout")
def _pause(_user: User) -> object:
    busy = http(b"", "503 Busy", headers=("Retry-After: 30",))
    with logged(logging.WARNING) as log, serving(in_turn(busy, ROW)) as server:
        client = client_of(server, retry_for=60)
        other = threading.Thread(target=quietly, args=(client,))
        other.start()
        while not log.getvalue():
            time.sleep(0.01)
        try:
            return ask(client.with_options(timeout=0.1))
        finally:
            client.close()
            other.join()


@NETWORK.of("a search that waits for another one, with concurrency=1")
def _no_slot(_user: User) -> object:
    ended = threading.Event()

    def wait(_connection: Any, _number: int) -> None:
        ended.wait(20)
        raise Close

    with serving(wait) as server:
        client = client_of(server, concurrency=1)
        other = threading.Thread(target=quietly, args=(client,))
        other.start()
        try:
            while not server.requests:
                time.sleep(0.01)
            return client.download_segment(7, timeout=0.3)
        finally:
            ended.set()
            other.join()


# TLS.


@cache
def authority() -> trustme.CA:
    return trustme.CA()


def certified(server_of: Server, trusted: bytes = b"") -> Callable[[User], object]:
    """A search at a server with this certificate; the client trusts the CA of the tests, or this one."""

    def act(user: User) -> object:
        bundle = user.file("ca.pem", trusted or authority().cert_pem.bytes())
        with serving(always(ROW), server_of(authority())) as server:
            return ask(client_of(server, ca_bundle=bundle))

    return act


OWN = leaf(None, AN_AUTHORITY)
SERVERS = {
    "a certificate of an unknown CA": "C6-unknown-authority",
    "a certificate that has expired": "C6-expired",
    "a certificate that is not valid yet": "C6-not-yet-valid",
    "a certificate for another name": "C6-another-name",
    "a certificate without a name": "C6-no-name-but-the-common-one",
    "a certificate for clients": "C6-for-clients",
    "a server that wants a certificate": "C6-wants-a-certificate-of-ours",
    "a server without a secure cipher suite": "C6-no-cipher-that-is-safe",
    "a server with TLS 1.1": "C6-tls-1.1-only",
}
NETWORK.table(
    {
        **{label: certified(CASES[case][0]) for label, case in SERVERS.items()},
        "a certificate for nine names": certified(
            lambda ca: context(leaf(ca, FOR_SERVERS, names=("a.example.com",) * 9))
        ),
        "a server with the certificate of an authority": certified(
            lambda _ca: context(OWN), OWN.cert_chain_pems[0].bytes()
        ),
    }
)


def over_tls(use: Callable[[str], object]) -> Callable[[User], object]:
    """Uses the address of a server with a certificate that the system does not trust."""

    def act(_user: User) -> object:
        with serving(always(ROW), context(authority().issue_cert("localhost"))) as server:
            return use(server.base_url)

    return act


NETWORK.table(
    {
        "http:// where the port speaks TLS": over_tls(lambda address: at(address.replace("https", "http"))),
        "a certificate of an unknown CA, with the CA certificates of the system": over_tls(at),
        "a proxy with TLS whose CA is unknown": over_tls(lambda address: at(ADDRESS, proxy=address)),
    }
)


@NETWORK.of("https:// where the port speaks no TLS")
def _no_tls(_user: User) -> object:
    with speaking(b"220 mail ready\r\n") as port:
        return at(f"https://localhost:{port}")


# Proxies.


def proxied(response: bytes, address: str = ADDRESS) -> Callable[[User], object]:
    def act(_user: User) -> object:
        with serving(closing(response)) as proxy:
            return at(address, proxy=proxy.base_url, allow_http=True)

    return act


WANTS_A_PASSWORD = b"HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n"
NETWORK.table(
    {
        "a proxy that wants a password": proxied(WANTS_A_PASSWORD),
        "a proxy that wants a password, for http://": proxied(WANTS_A_PASSWORD, "http://cdp.example.com"),
        "a proxy that is busy": proxied(b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"),
        "a proxy that forbids the tunnel": proxied(b"HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"),
        "a proxy that closes the connection": proxied(b""),
        "a proxy that nobody runs": lambda _user: at(ADDRESS, proxy=f"http://127.0.0.1:{free_port()}"),
    }
)


@NETWORK.of("a proxy that does not exist, in HTTPS_PROXY")
def _no_proxy(user: User) -> object:
    user.patch.setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
    return at(ADDRESS)


@NETWORK.of("a proxy that sends nothing")
def _proxy_silent(_user: User) -> object:
    with faster(), socket.create_server(("127.0.0.1", 0)) as listener:
        return at(ADDRESS, proxy=f"http://127.0.0.1:{listener.getsockname()[1]}")
