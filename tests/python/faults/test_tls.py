"""TLS: a server without a valid certificate gets no request; what the error says, and which CAs count (C6-C8, C10)."""

from __future__ import annotations

import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from support import kinds
from support.certificates import AN_AUTHORITY, CASES, FOR_SERVERS, context, leaf, speaking
from support.cycled import cycled
from support.operations import DOWNLOAD, SEARCH, WHOLE, Operation
from support.raw_server import Close, RawServer, always, closing, http, serving
from support.searches import search

import dataaccess as da

ROOT = Path(__file__).parents[3]


@pytest.mark.fault("C6")
@pytest.mark.filterwarnings("ignore:ssl.TLSVersion.TLSv1_1 is deprecated")
@pytest.mark.parametrize(("case", "ask"), cycled(CASES, [SEARCH, DOWNLOAD]), ids=str)
def test_an_untrusted_server_gets_no_request(
    connect: Any, ask: Operation, authority: trustme.CA, bundle: Path, case: str
) -> None:
    server_of, reason = CASES[case]
    with serving(always(WHOLE), server_of(authority)) as server:
        with pytest.raises(kinds.Tls) as caught:
            ask(connect(server.base_url, ca_bundle=bundle))
        assert server.requests == []
        assert server.connections == 1
    error = caught.value
    assert (error.reason, error.phase, error.attempts, error.retryable) == (reason, "tls", 1, False), str(error)
    assert f"localhost:{server.port}" in str(error)
    assert str(error).isprintable()
    assert "Other" not in str(error)
    if reason in {"expired", "not yet valid"}:
        assert re.search(r"\w+, \d\d \w+ \d{4} [\d:]+ GMT", str(error)), "the clock of this machine"
    elif reason in {"unknown issuer", "wrong name", "bad certificate"}:
        assert f"ca_bundle={bundle}" in str(error)


@pytest.mark.fault("C6")
def test_a_self_signed_certificate_works_unless_it_is_that_of_an_authority(connect: Any, tmp_path: Path) -> None:
    for extension, is_refused in ((AN_AUTHORITY, True), (FOR_SERVERS, False)):
        own = leaf(None, extension)
        trusted = tmp_path / "own.pem"
        trusted.write_bytes(own.cert_chain_pems[0].bytes())
        with serving(always(WHOLE), context(own)) as server:
            client = connect(server.base_url, ca_bundle=trusted)
            if is_refused:
                with pytest.raises(kinds.Tls, match="basicConstraints=critical,CA:FALSE") as caught:
                    search(client)
                assert caught.value.reason == "bad certificate"
            else:
                search(client)


def test_names_in_a_certificate_cannot_deceive_the_reader(connect: Any, authority: trustme.CA, bundle: Path) -> None:
    name = "trusted.example.com" + "-x" * 20
    with serving(always(http()), context(leaf(authority, FOR_SERVERS, names=(name,) * 9))) as server:
        with pytest.raises(kinds.Tls) as caught:
            search(connect(server.base_url, ca_bundle=bundle))
        assert caught.value.reason == "wrong name"
        assert len(str(caught.value)) < 600


GREETINGS = [http(b"", "400 Bad Request"), b"SSH-2.0-OpenSSH_9.2\r\n", b"220 mail.example.com ESMTP\r\n"]


@pytest.mark.fault("C10")
@pytest.mark.parametrize(("greeting", "ask"), cycled(GREETINGS, [SEARCH, DOWNLOAD]), ids=["http", "ssh", "smtp"])
def test_a_port_without_tls_is_reported_at_once(connect: Any, ask: Operation, bundle: Path, greeting: bytes) -> None:
    with speaking(greeting) as port:
        started = time.monotonic()
        with pytest.raises(kinds.Tls) as caught:
            ask(connect(f"https://localhost:{port}", ca_bundle=bundle))
    assert time.monotonic() - started < 5
    assert (caught.value.reason, caught.value.attempts) == ("not TLS", 1)


def test_a_port_that_says_nothing_is_given_up(connect: Any, ask: Operation, bundle: Path) -> None:
    def wait(_connection: Any, _number: int) -> None:
        raise Close

    with serving(wait) as server:
        # It expects plain HTTP and reads the handshake as the beginning of a request.
        with pytest.raises(da.RequestTimeoutError):
            ask(connect(f"https://localhost:{server.port}", ca_bundle=bundle, timeout=0.5))
        assert server.requests == []


def test_plain_http_to_a_port_with_tls_is_reported(connect: Any, ask: Operation, authority: trustme.CA) -> None:
    with serving(always(WHOLE), context(authority.issue_cert("localhost"))) as server:
        with pytest.raises(da.TransportError, match="https://"):
            ask(connect(server.base_url.replace("https://", "http://"), retry_for=0))
        assert server.requests == []


def properly(response: bytes) -> Any:
    """Ends it as TLS wants it."""

    def end(connection: Any, _number: int) -> None:
        connection.sendall(response)
        with suppress(OSError):
            connection.unwrap()
        raise Close

    return end


HEAD, _, BODY = WHOLE.partition(b"\r\n\r\n")
# Without a length the end of the connection is the end of the body.
ENDED_BY_CLOSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + BODY


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param(b"", kinds.Lost, id="H1-without-a-byte"),
        pytest.param(WHOLE[:40], kinds.Lost, id="H3-within-the-head"),
        pytest.param(WHOLE[:-9], kinds.Truncated, id="H4-within-the-body"),
        pytest.param(ENDED_BY_CLOSE, kinds.Truncated, id="H8-where-the-body-seems-whole"),
    ],
)
def test_a_connection_cut_behind_the_back_of_tls_is_lost_or_its_response_cut(
    connect: Any, ask: Operation, authority: trustme.CA, bundle: Path, sent: bytes, expected: type[da.DataAccessError]
) -> None:
    tls = context(authority.issue_cert("localhost"))
    with serving(closing(sent), tls) as server:
        with pytest.raises(da.DataAccessError) as caught:
            ask(connect(server.base_url, ca_bundle=bundle, retry_for=0.2))
        assert kinds.kind_of(caught.value) is expected, repr(caught.value)
        assert caught.value.attempts == len(server.requests) == 2
    with serving(properly(ENDED_BY_CLOSE), tls) as server:
        assert ask(connect(server.base_url, ca_bundle=bundle, retry_for=0)) == ask.result


@pytest.mark.fault("C8")
def test_nothing_turns_verification_off() -> None:
    for path in (ROOT / "src").rglob("*.rs"):
        source = path.read_text(encoding="utf-8")
        assert not re.search(r"danger|ServerCertVerifier|SSLKEYLOGFILE|KeyLogFile", source), path
    for path in (ROOT / "python").rglob("*.py"):
        assert not re.search(r"verify\w*\s*[:=]|insecure", path.read_text(encoding="utf-8")), path


# The nearest first: an argument, and variables of the environment.
SOURCES = ["ca_bundle", "DATAACCESS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"]


@pytest.fixture(scope="module")
def server(authority: trustme.CA) -> Any:
    with serving(always(WHOLE), context(authority.issue_cert("localhost"))) as server:
        yield server


@pytest.fixture
def good(authority: trustme.CA, tmp_path: Path) -> Path:
    """A folder with the right authority."""
    return written(authority, tmp_path / "good")


def written(authority: trustme.CA, folder: Path) -> Path:
    folder.mkdir()
    (folder / "README").write_text("This is no certificate.")
    (folder / "gone.pem").symlink_to("nowhere")
    (folder / "odd.pem").write_text("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    return folder


def say(monkeypatch: pytest.MonkeyPatch, source: str, path: Path) -> dict[str, Any]:
    """Sets the trusted CAs by a variable or an option."""
    if source == "ca_bundle":
        return {"ca_bundle": path}
    monkeypatch.setenv(source, str(path))
    return {}


@pytest.mark.fault("C7")
@pytest.mark.parametrize("kind", ["file", "folder"])
@pytest.mark.parametrize("source", SOURCES)
def test_a_private_ca_is_trusted_when_configured(
    connect: Any, ask: Operation, server: RawServer, good: Path, monkeypatch: pytest.MonkeyPatch, source: str, kind: str
) -> None:
    with pytest.raises(kinds.Tls) as caught:
        ask(connect(server.base_url))
    assert caught.value.reason == "unknown issuer"
    path = good if kind == "folder" else good / "ca.pem"
    assert ask(connect(server.base_url, **say(monkeypatch, source, path))) == ask.result


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("content", [None, "", "no certificate", "-----BEGIN CERTIFICATE-----\nMIIB\n"])
def test_what_holds_no_certificate_is_refused_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, content: str | None
) -> None:
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(da.ConfigError, match=rf"^ca_bundle\b.* {re.escape(str(path))} ") as caught:
        da.Client("https://cdp.example.com", token="tok", **say(monkeypatch, source, path))
    assert (f" (from {source})" in str(caught.value)) == (source != "ca_bundle")


def test_folders_are_refused_when_they_are_not_there_or_all_empty(
    tmp_path: Path, good: Path, connect: Any, server: RawServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty, gone = tmp_path / "empty", tmp_path / "gone"
    empty.mkdir()
    for value in (str(empty), str(gone), f"{gone}:{good}", f"{good}:{gone}"):
        monkeypatch.setenv("SSL_CERT_DIR", value)
        with pytest.raises(da.ConfigError, match=r"\(from SSL_CERT_DIR\)"):
            da.Client("https://cdp.example.com", token="tok")
    for value in (f"{empty}:{good}", f"{good}:{empty}", f"::{good}:"):
        monkeypatch.setenv("SSL_CERT_DIR", value)
        assert SEARCH(connect(server.base_url)) == SEARCH.result


def test_where_no_tls_is_spoken_only_our_own_words_must_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"):
        monkeypatch.setenv(name, str(tmp_path / "gone"))
    da.Client("http://localhost:1", token="tok")
    with pytest.raises(da.ConfigError):
        da.Client("http://localhost:1", token="tok", ca_bundle=tmp_path / "gone")
    monkeypatch.setenv("DATAACCESS_CA_BUNDLE", str(tmp_path / "gone"))
    with pytest.raises(da.ConfigError, match=r"\(from DATAACCESS_CA_BUNDLE\)"):
        da.Client("http://localhost:1", token="tok")


def test_connections_are_not_shared_between_clients_with_other_cas(
    server: RawServer, good: Path, tmp_path: Path
) -> None:
    client = da.Client(server.base_url, token="tok", ca_bundle=good)
    assert SEARCH(client) == SEARCH.result
    with pytest.raises(kinds.Tls):
        search(client.with_options(ca_bundle=written(trustme.CA(), tmp_path / "strange")))
