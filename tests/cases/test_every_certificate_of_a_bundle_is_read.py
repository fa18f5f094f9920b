"""Each certificate of a CA file is read, with a byte order mark or glued to the one before, or named by its line.

Source: pyca/cryptography and OpenSSL read such files; RFC 7468, section 2 (text before a boundary is ignored).
"""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme
from support.certificates import context
from support.raw_server import always, http, serving
from support.searches import search

import dataaccess as da

FIRST, SECOND = trustme.CA(), trustme.CA()
ONE, TWO = FIRST.cert_pem.bytes(), SECOND.cert_pem.bytes()
FORMS = {
    "a byte order mark": b"\xef\xbb\xbf" + ONE + TWO,
    "glued": ONE.strip() + TWO,
    "in Windows lines": (ONE + TWO).replace(b"\n", b"\r\n"),
    "with text around": b"Subject: C=\xff\n" + ONE + b"# the other: " + TWO,
    "with a key between": ONE + FIRST.private_key_pem.bytes() + TWO,
}
BROKEN = {
    "cut off": b"-----BEGIN CERTIFICATE-----\nMIIB\n",
    "no base64": b"-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n",
    "no certificate": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "of OpenSSL": b"-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----\n",
}


@pytest.mark.parametrize("form", FORMS)
def test_both_are_trusted(tmp_path: Path, form: str) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(FORMS[form])
    for authority in (FIRST, SECOND):
        with serving(always(http()), context(authority.issue_cert("localhost"))) as server:
            assert search(da.Client(server.base_url, token="tok", ca_bundle=path, retry_for=0))


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize(("before", "line"), [(b"", 1), (ONE, ONE.count(b"\n") + 1)])
def test_one_that_cannot_be_read_is_named_by_its_line(tmp_path: Path, broken: str, before: bytes, line: int) -> None:
    path = tmp_path / "ca.pem"
    path.write_bytes(before + BROKEN[broken] + ONE)
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com", token="tok", ca_bundle=path)
    assert str(path) in str(caught.value)
    assert f"line {line} " in str(caught.value)
