"""Each certificate of a CA file is read or named: with a byte order mark, and glued to the one before.

Source: pyca/cryptography and OpenSSL read such files; RFC 7468, section 2 (text before a boundary is ignored).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trustme
from support.certificates import context
from support.raw_server import always, http, serving

import dataaccess as da

FORMS = {
    "a byte order mark": lambda first, second: b"\xef\xbb\xbf" + first + second,
    "glued": lambda first, second: first.strip() + second,
    "in Windows lines": lambda first, second: (first + second).replace(b"\n", b"\r\n"),
    "with text around": lambda first, second: b"Subject: C=\xff\n" + first + b"# the other: " + second,
    "indented keys between": lambda first, second: first + trustme.CA().private_key_pem.bytes() + second,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_both_are_trusted(tmp_path: Path, form: Any) -> None:
    first, second = trustme.CA(), trustme.CA()
    path = tmp_path / "ca.pem"
    path.write_bytes(form(first.cert_pem.bytes(), second.cert_pem.bytes()))
    for authority in (first, second):
        with serving(always(http()), context(authority.issue_cert("localhost"))) as server:
            client = da.Client(server.base_url, token="tok", ca_bundle=path, retry_for=0)
            assert len(client.search_codes(["id"], allocated_time=da.on("2024-01-15"))) == 2


BROKEN = {
    "cut off": b"-----BEGIN CERTIFICATE-----\nMIIB\n",
    "no base64": b"-----BEGIN CERTIFICATE-----\n%%%%\n-----END CERTIFICATE-----\n",
    "no certificate": b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "of OpenSSL": b"-----BEGIN TRUSTED CERTIFICATE-----\nAAAA\n-----END TRUSTED CERTIFICATE-----\n",
}


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("is_first", [True, False])
def test_one_that_cannot_be_read_is_named_by_its_line(tmp_path: Path, broken: bytes, *, is_first: bool) -> None:
    good = trustme.CA().cert_pem.bytes()
    path = tmp_path / "ca.pem"
    path.write_bytes(broken + good if is_first else good + broken)
    line = 1 if is_first else good.count(b"\n") + 1
    with pytest.raises(da.ConfigError) as caught:
        da.Client("https://cdp.example.com", token="tok", ca_bundle=path)
    assert f"{path}" in str(caught.value)
    assert f"line {line} " in str(caught.value)
