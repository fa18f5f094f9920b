"""`Content-Encoding: utf-8` is read as no compression; another word that names none is quoted.

Source: RFC 9110, section 8.4.1 (codings are registered, and charsets are not among them).
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.raw_server import http
from support.searches import search


@pytest.mark.parametrize("value", ["utf-8", "UTF-8", "utf8", "identity, utf-8"])
def test_utf_8_is_read(client_of: Any, value: str) -> None:
    assert search(client_of(http(headers=(f"Content-Encoding: {value}",))))


@pytest.mark.parametrize("value", ["iso-8859-1", "json"])
def test_another_word_is_named_and_no_proxy_is_blamed(client_of: Any, value: str) -> None:
    with pytest.raises(kinds.Malformed) as caught:
        search(client_of(http(headers=(f"Content-Encoding: {value}",))))
    assert value in str(caught.value)
    assert "proxy" not in str(caught.value)
