"""`Content-Encoding: utf-8` is read as no compression; another word that names none is not blamed on a proxy.

Source: RFC 9110, section 8.4.1 (codings are registered, and charsets are not among them); a trial of nightly jobs.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da


def search(value: str) -> Any:
    with serving(always(http(headers=(f"Content-Encoding: {value}",)))) as server:
        client = da.Client(server.base_url, token="tok", retry_for=0)
        return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


@pytest.mark.parametrize("value", ["utf-8", "UTF-8", "utf8", "identity, utf-8"])
def test_utf_8_is_read(value: str) -> None:
    assert search(value) == RESPONSE["data"]["data"]


@pytest.mark.parametrize("value", ["iso-8859-1", "json"])
def test_another_word_is_named_and_no_proxy_is_blamed(value: str) -> None:
    with pytest.raises(kinds.Malformed) as caught:
        search(value)
    assert value in str(caught.value)
    assert "proxy" not in str(caught.value)
