"""A response in another charset than UTF-8 is refused by that name; a wrong name of UTF-8 does not matter.

Source: RFC 8259, section 8.1 (JSON between systems is UTF-8).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from support import kinds
from support.raw_server import RESPONSE, http
from support.searches import search

TEXT = json.dumps({**RESPONSE, "message": "é"}, ensure_ascii=False)


@pytest.mark.parametrize("charset", ["utf-16", "iso-8859-1"])
def test_another_charset_is_named(client_of: Any, charset: str) -> None:
    client = client_of(http(TEXT.encode(charset), content_type=f"application/json; charset={charset}"))
    with pytest.raises((kinds.InvalidJson, kinds.NotJson)) as caught:
        search(client)
    assert f"charset={charset}" in str(caught.value)


@pytest.mark.parametrize("charset", ["UTF-8", "iso-8859-1"])
def test_utf_8_is_read(client_of: Any, charset: str) -> None:
    assert search(client_of(http(TEXT.encode(), content_type=f"application/json; charset={charset}")))
