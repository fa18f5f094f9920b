"""TLS: a private authority is trusted when told, and nobody else is (C6, C7, C10)."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
import trustme
from support.raw_server import http, read_request, serving

import dataaccess as da


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@contextmanager
def tls_server(certificate: trustme.LeafCert) -> Iterator[tuple[str, list[str]]]:
    """Answers each request over TLS; gives its address and the paths asked for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    listener = socket.create_server(("127.0.0.1", 0))
    requests: list[str] = []

    def serve() -> None:
        with suppress(OSError):
            while True:
                plain, _ = listener.accept()
                with suppress(OSError), plain, context.wrap_socket(plain, server_side=True) as connection:
                    request = read_request(connection)
                    if request is not None:
                        requests.append(request.path)
                        connection.sendall(http(headers=("Connection: close",)))

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"https://localhost:{listener.getsockname()[1]}", requests
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def search(client: Any) -> Any:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


@pytest.mark.parametrize("by_environment", [False, True])
def test_a_private_authority_is_trusted_when_told(
    connect: Any, authority: trustme.CA, tmp_path: Any, monkeypatch: pytest.MonkeyPatch, *, by_environment: bool
) -> None:
    bundle = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(bundle)
    options = {} if by_environment else {"ca_bundle": bundle}
    if by_environment:
        monkeypatch.setenv("DATAACCESS_CA_BUNDLE", str(bundle))
    with tls_server(authority.issue_cert("localhost")) as (address, requests):
        assert search(connect(address, **options)) == [{"id": "a"}, {"id": "b"}]
        assert requests == ["/access/api/item/search"]


def test_who_is_not_trusted_gets_no_request(connect: Any, authority: trustme.CA, tmp_path: Any) -> None:
    bundle = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(bundle)
    stranger = trustme.CA()
    for certificate, options in [
        (stranger.issue_cert("localhost"), {"ca_bundle": bundle}),
        (authority.issue_cert("localhost"), {}),
        (authority.issue_cert("elsewhere.example.com"), {"ca_bundle": bundle}),
    ]:
        with tls_server(certificate) as (address, requests):
            with pytest.raises(da.TlsError) as caught:
                search(connect(address, **options))
            assert requests == []
        assert (caught.value.phase, caught.value.attempts) == ("tls", 1)
        assert "ca_bundle=" in str(caught.value)


def test_a_port_that_speaks_no_tls_is_told(connect: Any) -> None:
    def speak(connection: Any, _number: int) -> None:
        connection.sendall(http())

    with serving(speak) as server:
        # The server waits for a request in plain HTTP and takes the handshake for the beginning of one.
        with pytest.raises(da.RequestTimeoutError):
            search(connect(server.base_url.replace("http://", "https://"), timeout=0.5))
        assert server.requests == []
