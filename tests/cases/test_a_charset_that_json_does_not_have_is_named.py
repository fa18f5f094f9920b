"""A response in another charset than UTF-8 is refused by that name; no login page is blamed.

Source: RFC 8259, section 8.1 (JSON between systems is UTF-8).
"""

from __future__ import annotations

import json

import pytest
from support.raw_server import RESPONSE, always, http, serving

import dataaccess as da

TEXT = json.dumps({**RESPONSE, "message": "é"}, ensure_ascii=False)


@pytest.mark.parametrize("charset", ["utf-16", "iso-8859-1"])
def test_it_is_named(charset: str) -> None:
    response = http(TEXT.encode(charset), content_type=f"application/json; charset={charset}")
    with serving(always(response)) as server, pytest.raises(da.ResponseError) as caught:
        da.Client(server.base_url, token="tok", retry_for=0).search_codes(["id"], allocated_time=da.on("2024-01-15"))
    assert f"charset={charset}" in str(caught.value)
    assert "UTF-8" in str(caught.value)
    assert "login" not in str(caught.value)


@pytest.mark.parametrize("charset", ["UTF-8", "iso-8859-1"])
def test_one_that_is_named_wrongly_does_not_matter(charset: str) -> None:
    response = http(TEXT.encode(), content_type=f"application/json; charset={charset}")
    with serving(always(response)) as server:
        client = da.Client(server.base_url, token="tok", retry_for=0)
        assert client.search_codes(["id"], allocated_time=da.on("2024-01-15")) == RESPONSE["data"]["data"]
