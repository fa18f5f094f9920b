"""Proxies: errors name the proxy and the setting it comes from (C11, C12)."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme
from support import kinds
from support.certificates import context
from support.cycled import cycled
from support.operations import DOWNLOAD, SEARCH, WHOLE, Operation
from support.raw_server import Close, RawServer, Responder, always, closing, http, serving, tunnel
from support.searches import search
from support.service_machine import locals_of_package

import dataaccess as da

SERVICE = "https://service.invalid"
ROWS = [{"id": "a"}, {"id": "b"}]
SECRETS: dict[str, Any] = {"token": "tok-secret", "headers": {"X-Api-Key": "key-1"}}
USER = "robot:hunter2-%C3%A9@"
CREDENTIALS = "Basic " + base64.b64encode("robot:hunter2-é".encode()).decode()


@pytest.fixture
def trusting(bundle: Path) -> dict[str, Any]:
    return {"ca_bundle": bundle}


@pytest.fixture
def service(authority: trustme.CA) -> Iterator[RawServer]:
    with serving(always(WHOLE), context(authority.issue_cert("service.invalid"))) as server:
        yield server


@contextmanager
def on_the_way(
    how: str, respond: Responder, monkeypatch: pytest.MonkeyPatch, user: str = ""
) -> Iterator[tuple[RawServer, dict[str, Any]]]:
    """A proxy, and the options of a client that goes through it."""
    with serving(respond) as proxy:
        address = proxy.base_url.replace("//", f"//{user}")
        if how == "proxy":
            yield proxy, {"proxy": address}
        else:
            monkeypatch.setenv(how, address)
            yield proxy, {}


@pytest.mark.parametrize("how", ["proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
def test_a_proxy_carries_what_it_cannot_read(
    connect: Any, service: RawServer, trusting: Any, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    with on_the_way(how, tunnel(service.port), monkeypatch, USER) as (proxy, options):
        client = connect(SERVICE, token="tok-secret", **options, **trusting)
        assert search(client) == search(client) == ROWS
        assert [request.path for request in proxy.requests] == ["service.invalid:443"]
        asked = proxy.requests[0].headers
        assert asked["proxy-authorization"] == CREDENTIALS
        assert "tok-secret" not in str(proxy.requests)
    assert len(service.requests) == 2
    assert all(request.headers["authorization"] == "Bearer tok-secret" for request in service.requests)
    assert {(each.path, each.query) for each in service.requests} == {("/access/api/item/search", "")}
    assert "proxy-authorization" not in service.requests[0].headers


# What the proxy does, the reported status, and whether the request is retried. Only 407 has its own class.
CASES: dict[str, tuple[Responder, int | None, bool]] = {
    "C11-wants-a-password": (closing(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n"), 407, False),
    "C11-refuses": (closing(b"HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\n\r\n<html>no"), 403, False),
    "C11-knows-no-connect": (closing(b"HTTP/1.0 405 Method Not Allowed\r\n\r\n"), 405, False),
    "C11-cannot-reach-the-service": (closing(b"HTTP/1.1 502 Bad Gateway\r\n\r\n<html>bad"), 502, True),
    # RFC 9110, section 9.3.6: any status but 2xx means that there is no tunnel.
    "C11-bad-request": (closing(b"HTTP/1.1 400 Bad Request\r\n\r\n"), 400, False),
    "C11-too-many-requests": (closing(b"HTTP/1.1 429 Too Many Requests\r\n\r\n"), 429, True),
    "C11-timeout": (closing(b"HTTP/1.1 504 Gateway Timeout\r\n\r\n"), 504, True),
    "C11-is-busy": (closing(b"HTTP/1.1 503 Service Unavailable\r\n\r\n"), 503, True),
    "C11-redirects": (closing(b"HTTP/1.1 302 Found\r\nLocation: http://login.example.com/\r\n\r\n"), 302, False),
    "C11-is-no-proxy": (closing(b"<html>hello</html>\r\n\r\n"), None, True),
    "C11-speaks-first-in-the-tunnel": (closing(b"HTTP/1.1 200 OK\r\n\r\n<html>login"), None, True),
    "C11-never-ends-its-head": (closing(b"HTTP/1.1 200 OK\r\n" + b"X-A: a\r\n" * 2000), None, True),
    "C11-closes-without-a-word": (closing(b""), None, True),
    "C11-closes-in-its-head": (closing(b"HTTP/1.1 200 OK\r\nX-A"), None, True),
    "C11-closes-the-tunnel": (closing(b"HTTP/1.1 200 OK\r\n\r\n"), None, True),
}


@pytest.mark.fault("C11")
@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(("case", "how", "ask"), cycled(CASES, ["proxy", "HTTPS_PROXY"], [SEARCH, DOWNLOAD]), ids=str)
def test_a_proxy_that_fails_is_reported_as_the_proxy(
    connect: Any, ask: Operation, trusting: Any, monkeypatch: pytest.MonkeyPatch, case: str, how: str
) -> None:
    respond, status, tried_again = CASES[case]
    with on_the_way(how, respond, monkeypatch, USER) as (proxy, options):
        with pytest.raises(kinds.Proxy) as caught:
            ask(connect(SERVICE, **SECRETS, retry_for=0.2, **options, **trusting))
        for request in proxy.requests:
            assert request.path == "service.invalid:443"
            assert not {"authorization", "x-api-key"} & request.headers.keys()
        assert caught.value.attempts == (2 if tried_again else 1)
        # The HTTP library keeps the status of a refusal to itself: the proxy is asked for it once more.
        assert len(proxy.requests) in (caught.value.attempts, 2 * caught.value.attempts)
        message = str(caught.value)
        assert f"127.0.0.1:{proxy.port} ({how})" in message
    error = caught.value
    assert (error.phase, error.status) == ("proxy", status)
    assert message.isprintable()
    everything = message + repr(error) + repr(error.__dict__) + repr(error.__cause__) + repr(locals_of_package(error))
    for secret in ("hunter2", CREDENTIALS.removeprefix("Basic "), "tok-secret"):
        assert secret not in everything


def test_no_listener_at_the_address_of_a_proxy(connect: Any, trusting: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(always(b"")) as gone:
        address = gone.base_url
    monkeypatch.setenv("HTTPS_PROXY", address)
    with pytest.raises(kinds.Proxy, match=rf"{gone.port} \(HTTPS_PROXY\)") as caught:
        search(connect(SERVICE, retry_for=0.2, **trusting))
    assert caught.value.attempts == 2
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.invalid:3128")
    with pytest.raises(kinds.Proxy, match=r"proxy\.invalid:3128 \(HTTPS_PROXY\)"):
        search(connect(SERVICE, retry_for=0, **trusting))


def test_a_proxy_that_succeeds_later_is_never_noticed(
    connect: Any, ask: Operation, service: RawServer, trusting: Any
) -> None:
    good = tunnel(service.port)

    def respond(connection: Any, number: int) -> None:
        if number == 0:
            connection.sendall(b"HTTP/1.1 503 Service Unavailable\r\n\r\n")
            raise Close
        if number == 1:
            tunnel(service.port, limit=100)(connection, number)
        good(connection, number)

    with serving(respond) as proxy:
        assert ask(connect(SERVICE, proxy=proxy.base_url, **trusting)) == ask.result
        assert len(proxy.requests) == 3


def test_a_proxy_that_dies_in_the_tunnel_delivers_no_half_response(
    connect: Any, ask: Operation, service: RawServer, trusting: Any
) -> None:
    whole, broken = 0, set()
    for limit in range(0, 2400, 150):
        with serving(tunnel(service.port, limit=limit)) as proxy:
            client = connect(SERVICE, proxy=proxy.base_url, retry_for=0, **trusting)
            try:
                assert ask(client) == ask.result
                whole += 1
            except da.TransportError as error:
                broken.add(kinds.kind_of(error))
    assert 0 < whole < 8
    assert kinds.Proxy in broken
    assert broken <= {kinds.Proxy, kinds.Lost, kinds.Truncated}


def test_a_service_that_cannot_be_trusted_is_not_the_proxys_failure(
    connect: Any, authority: trustme.CA, trusting: Any
) -> None:
    with (
        serving(always(http()), context(authority.issue_cert("other.invalid"))) as service,
        serving(tunnel(service.port)) as proxy,
    ):
        with pytest.raises(kinds.Tls) as caught:
            search(connect(SERVICE, proxy=proxy.base_url, **trusting))
        assert (caught.value.reason, len(proxy.requests)) == ("wrong name", 1)
        assert service.requests == []


def test_a_proxy_may_itself_speak_tls(connect: Any, authority: trustme.CA, service: RawServer, trusting: Any) -> None:
    with serving(tunnel(service.port), context(authority.issue_cert("localhost"))) as proxy:
        assert search(connect(SERVICE, proxy=proxy.base_url, **trusting)) == ROWS
        assert [request.path for request in proxy.requests] == ["service.invalid:443"]
    with serving(tunnel(service.port), context(trustme.CA().issue_cert("localhost"))) as proxy:
        with pytest.raises(kinds.Proxy, match=rf"\blocalhost:{proxy.port}\b") as caught:
            search(connect(SERVICE, proxy=proxy.base_url, **trusting))
        assert (proxy.requests, caught.value.attempts) == ([], 1)


def test_plain_http_through_a_proxy_names_the_service(connect: Any) -> None:
    with serving(always(http())) as proxy:
        address = proxy.base_url.replace("//", f"//{USER}")
        assert search(connect("http://service.invalid:81/cdp", allow_http=True, proxy=address)) == ROWS
        (request,) = proxy.requests
        assert (request.path, request.query) == ("http://service.invalid:81/cdp/access/api/item/search", "")
        assert request.headers["proxy-authorization"] == CREDENTIALS
        assert request.headers["host"] == "service.invalid:81"
    with serving(always(http(b"", "407 Proxy Authentication Required"))) as proxy:
        with pytest.raises(kinds.Proxy) as caught:
            search(connect("http://service.invalid", allow_http=True, proxy=proxy.base_url))
        assert (caught.value.status, len(proxy.requests)) == (407, 1)


VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]


@pytest.mark.fault("C12")
@pytest.mark.parametrize(("name", "ask"), cycled(VARIABLES, [SEARCH, DOWNLOAD]), ids=str)
def test_a_proxy_of_the_environment_never_sees_this_machine(
    connect: Any,
    ask: Operation,
    authority: trustme.CA,
    sandbox: da.Sandbox,
    trusting: Any,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    with (
        serving(always(http(b"", "500 Proxy"))) as proxy,
        serving(always(WHOLE)) as plain,
        serving(always(WHOLE), context(authority.issue_cert("localhost"))) as secured,
    ):
        monkeypatch.setenv(name, proxy.base_url)
        for address in (plain.base_url, plain.base_url.replace("127.0.0.1", "localhost"), secured.base_url):
            assert ask(connect(address, **trusting)) == ask.result
        assert ask(connect(sandbox))
        assert proxy.connections == 0


def test_a_given_proxy_is_taken_at_its_word(connect: Any, ask: Operation) -> None:
    with serving(always(WHOLE)) as proxy, serving(always(http(b"", "500 Direct"))) as server:
        assert ask(connect(server.base_url, proxy=proxy.base_url)) == ask.result
        assert (len(proxy.requests), server.connections) == (1, 0)


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({"HTTPS_PROXY": "", "NO_PROXY": "invalid"}, SERVICE),
        ({"HTTPS_PROXY": "", "no_proxy": "other.com, .service.invalid"}, SERVICE),
        ({"ALL_PROXY": "", "NO_PROXY": "*"}, SERVICE),
        ({"HTTP_PROXY": ""}, SERVICE),
        ({"HTTPS_PROXY": ""}, "http://service.invalid"),
        # A CGI program finds there what the header `Proxy:` of its request says.
        ({"HTTP_PROXY": "", "REQUEST_METHOD": "GET"}, "http://service.invalid"),
    ],
)
def test_a_proxy_that_is_not_meant_is_not_asked(
    connect: Any, trusting: Any, monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], address: str
) -> None:
    with serving(always(http())) as proxy:
        for name, value in variables.items():
            monkeypatch.setenv(name, value or proxy.base_url)
        with pytest.raises(da.ConnectError) as caught:
            search(connect(address, allow_http=True, retry_for=0, **trusting))
        assert caught.value.phase == "dns"
        assert proxy.connections == 0


def test_a_variable_that_names_no_proxy_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://robot:hunter2@proxy:1080")
    with pytest.raises(da.ConfigError, match=r"^proxy\b.*\(from ALL_PROXY\)") as caught:
        da.Client(SERVICE, token="tok")
    assert "hunter2" not in str(caught.value) + repr(caught.value.__cause__)
    monkeypatch.setenv("NO_PROXY", "service.invalid")
    da.Client(SERVICE, token="tok")
