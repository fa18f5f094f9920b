"""What is read of a response, and what of it is an error."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from support import kinds
from support.compressed import packed
from support.raw_server import ENTRY, EXPORT, RESPONSE, Close, http, serving
from support.searches import raised_by, search
from support.streams import client_of as client_for

import dataaccess as da

# A response in another charset than UTF-8 is refused by that name; a wrong name of UTF-8 does not matter.
# Source: RFC 8259, section 8.1 (JSON between systems is UTF-8).

TEXT = json.dumps({**RESPONSE, "message": "é"}, ensure_ascii=False)


@pytest.mark.parametrize("charset", ["utf-16", "iso-8859-1"])
def test_another_charset_than_utf_8_is_named(client_of: Any, charset: str) -> None:
    client = client_of(http(TEXT.encode(charset), content_type=f"application/json; charset={charset}"))
    with pytest.raises((kinds.InvalidJson, kinds.NotJson)) as caught:
        search(client)
    assert f"charset={charset}" in str(caught.value)


@pytest.mark.parametrize("charset", ["UTF-8", "iso-8859-1"])
def test_utf_8_is_read_whatever_its_charset_is_called(client_of: Any, charset: str) -> None:
    assert search(client_of(http(TEXT.encode(), content_type=f"application/json; charset={charset}")))


# `Content-Encoding: utf-8` is read as no compression; another word that names none is quoted.
# Source: RFC 9110, section 8.4.1 (codings are registered, and charsets are not among them).


@pytest.mark.parametrize("value", ["utf-8", "UTF-8", "utf8", "identity, utf-8"])
def test_a_content_encoding_of_utf_8_is_no_compression(client_of: Any, value: str) -> None:
    assert search(client_of(http(headers=(f"Content-Encoding: {value}",))))


@pytest.mark.parametrize("value", ["iso-8859-1", "json"])
def test_another_content_encoding_is_named_and_no_proxy_is_blamed(client_of: Any, value: str) -> None:
    with pytest.raises(kinds.Malformed) as caught:
        search(client_of(http(headers=(f"Content-Encoding: {value}",))))
    assert value in str(caught.value)
    assert "proxy" not in str(caught.value)


# Zero bytes behind the end of gzip are padding; any other byte there is an error.
# Source: gzip(1) ignores trailing zeros, and CPython `gzip` reads them as padding (python/cpython `Lib/gzip.py`).

ZIPPED = gzip.compress(json.dumps(RESPONSE).encode())


@pytest.mark.parametrize("zeros", [1, 511, 100_000])
def test_zeros_behind_gzip_are_padding(client_of: Any, zeros: int) -> None:
    assert search(client_of(packed(ZIPPED + bytes(zeros))))


@pytest.mark.parametrize("body", [ZIPPED + b"x", ZIPPED + b"\0\0{}", b"\0" + ZIPPED, ZIPPED[:-8] + bytes(8)])
def test_other_bytes_behind_gzip_and_zeros_elsewhere_are_an_error(client_of: Any, body: bytes) -> None:
    with pytest.raises(kinds.Malformed):
        search(client_of(packed(body)))


# `Transfer-Encoding: identity` beside a `Content-Length` is read by its length on a connection that stays open.
# Source: RFC 2616, section 3.6 (`identity` is no coding) and RFC 9112, section 6.3.


def test_transfer_encoding_identity_is_read_at_once(client_of: Any) -> None:
    client = client_of(http(headers=("Transfer-Encoding: Identity",)), timeout=1)
    assert search(client) == search(client)


def test_identity_without_a_length_ends_with_the_connection_and_with_a_longer_one_it_is_cut() -> None:
    identity = http(headers=("Transfer-Encoding: identity",))

    def respond(connection: Any, number: int) -> None:
        longer = http(headers=("Transfer-Encoding: identity",), length=400)
        connection.sendall(longer if number else identity.replace(b"Content-Length", b"X-Length"))
        raise Close

    with serving(respond) as server:
        client = client_for(server, retry_for=0)
        assert search(client)
        with pytest.raises(kinds.Truncated):
            search(client)


@pytest.mark.parametrize("coding", ["gzip", "chunked, identity", "x", "gzip, chunked"])
def test_another_transfer_encoding_is_refused_at_once(client_of: Any, coding: str) -> None:
    with pytest.raises(kinds.Malformed) as caught:
        search(client_of(http(headers=(f"Transfer-Encoding: {coding}",)), retry_for=60))
    assert caught.value.attempts == 1


# A response with more than a hundred headers is read; a head that is too large is not taken for TLS.
# Source: hyperium/hyper, `http1::Builder::max_headers` (100 by default).


@pytest.mark.parametrize(("count", "size"), [(101, 8), (250, 240), (1, 60_000)])
def test_a_response_with_many_headers_is_read(client_of: Any, count: int, size: int) -> None:
    assert search(client_of(http(headers=tuple(f"X-Trace-{number}: {'x' * size}" for number in range(count)))))


@pytest.mark.parametrize(
    ("response", "is_tls"),
    [
        (http(headers=("X-Trace: x",) * 257), False),
        (http(headers=("X-Trace: x",) * 100_000), False),
        (b"HTTP/1.1 abc OK\r\n\r\n", False),
        (b"\x15\x03\x01\x00\x02\x02\x46", True),
    ],
    ids=["257", "100000", "no status", "TLS"],
)
def test_what_is_refused_is_called_tls_only_if_it_is(client_of: Any, response: bytes, is_tls: bool) -> None:
    with pytest.raises(kinds.Malformed) as caught:
        search(client_of(response))
    assert ("TLS" in str(caught.value)) == is_tls


# `meta.total` as `"1"` beside one entry is no other number of entries; `"2"` is.
# Source: API specification 2.5: `total` is the number of entries.


@pytest.mark.parametrize("total", [1, "1", 1.0, None, 2, "2", "many"])
def test_only_a_total_of_another_number_warns(client_of: Any, recwarn: pytest.WarningsRecorder, total: Any) -> None:
    client = client_of(http({**EXPORT, "data": {"entries": [ENTRY], "meta": {"total": total}}}))
    assert client.download_segment(7)["meta"]["total"] == total
    is_other = total in (2, "2", "many")
    assert [warning.category for warning in recwarn] == [da.IncompleteWarning] * is_other


# Keys that nobody requested are counted by name up to a limit, however long and many they are.
# Source: a security review.


def test_few_short_names_of_keys_are_counted(client_of: Any) -> None:
    records = [{"id": "1", "n" * 65: 1, **{f"key{number}": 1 for number in range(40)}}, {"id": "2", "key0": 1}]
    scan = client_of(records).scan_items("customer", ["id"], da.col("x").equals("1"))
    scan.collect()
    extra_keys = scan.last_stats.extra_keys
    assert extra_keys["key0"] == 2
    assert all(len(name.encode()) <= 64 for name in extra_keys)
    assert 30 < len(extra_keys) <= 33
    assert scan.to_dicts()[0]["n" * 65] == 1


# A gateway says why in `Proxy-Status` or `WWW-Authenticate`, or in a body of its own form: the error has it.
# Source: RFC 9209 (`Proxy-Status`), RFC 6750 section 3 (`WWW-Authenticate: Bearer`), RFC 9457 (`title` and `detail`).

PROXY = 'cdn.example; error=connection_timeout; details="no answer in 10 s"'
BEARER = 'Bearer error="invalid_token", error_description="{} expired"'
QUOTA = "the quota of the day is used"


@pytest.mark.parametrize(
    ("status", "header", "body", "shown"),
    [
        ("504 Gateway Timeout", f"Proxy-Status: {PROXY}", b"<html>", PROXY),
        ("401 No", f"WWW-Authenticate: {BEARER.format('tok-0123456789')}", b"", 'description="<redacted> expired"'),
        ("403 No", "", {"type": "about:blank", "title": "Quota exceeded", "detail": QUOTA}, QUOTA),
        ("403 No", "", {"error": "invalid_request", "error_description": QUOTA}, QUOTA),
        ("403 No", "", {"error": {"code": 3, "message": QUOTA}}, QUOTA),
        # The words of the service come before the header.
        ("400 Bad", f"Proxy-Status: {PROXY}", {"code": 400, "message": "not so"}, "not so"),
    ],
)
def test_headers_of_a_refusal_are_reported(client_of: Any, status: str, header: str, body: Any, shown: str) -> None:
    error = raised_by(search, client_of(http(body, status, headers=(header,) if header else ())))
    assert shown in str(error)
    assert "tok-0123456789" not in str(error)
