"""Which CAs TLS trusts: the most specific setting wins and is named in errors (C7)."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import trustme
from support import kinds
from support.certificates import context
from support.operations import WHOLE, Operation
from support.raw_server import RawServer, always, serving
from support.searches import search

import dataaccess as da

ROWS = [{"id": "a"}, {"id": "b"}]
# The nearest first: an argument, and variables of the environment.
SOURCES = ["ca_bundle", "DATAACCESS_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def server(authority: trustme.CA) -> Any:
    with serving(always(WHOLE), context(authority.issue_cert("localhost"))) as server:
        yield server


@pytest.fixture
def good(authority: trustme.CA, tmp_path: Path) -> Path:
    """A folder with the right authority."""
    return written(authority, tmp_path / "good")


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A folder with another one."""
    return written(trustme.CA(), tmp_path / "strange")


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


@pytest.mark.parametrize(("nearer", "farther"), list(pairwise(SOURCES)))
def test_the_nearest_setting_wins_and_is_reported(
    connect: Any,
    server: RawServer,
    good: Path,
    strange: Path,
    monkeypatch: pytest.MonkeyPatch,
    nearer: str,
    farther: str,
) -> None:
    options = {**say(monkeypatch, nearer, strange), **say(monkeypatch, farther, good)}
    if (nearer, farther) == ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        # OpenSSL uses both, and so do we.
        assert search(connect(server.base_url, **options)) == ROWS
        return
    with pytest.raises(kinds.Tls) as caught:
        search(connect(server.base_url, **options))
    named = "ca_bundle" if nearer == "DATAACCESS_CA_BUNDLE" else nearer
    assert f"{named}={strange}" in str(caught.value)
    options = {**say(monkeypatch, nearer, good), **say(monkeypatch, farther, strange)}
    assert search(connect(server.base_url, **options)) == ROWS


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
        assert search(connect(server.base_url)) == ROWS


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
    server: RawServer, good: Path, strange: Path
) -> None:
    client = da.Client(server.base_url, token="tok", ca_bundle=good)
    assert search(client) == ROWS
    with pytest.raises(kinds.Tls):
        search(client.with_options(ca_bundle=strange))
