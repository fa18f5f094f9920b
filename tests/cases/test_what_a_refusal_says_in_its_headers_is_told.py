"""A gateway says why in `Proxy-Status` or `WWW-Authenticate`, or in a body of its own form: the error has it.

Source: RFC 9209 (`Proxy-Status`), RFC 6750 section 3 (`WWW-Authenticate: Bearer`), RFC 9457 (`title` and `detail`).
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import http
from support.searches import raised_by, search

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
def test_the_reason_is_told(client_of: Any, status: str, header: str, body: Any, shown: str) -> None:
    error = raised_by(search, client_of(http(body, status, headers=(header,) if header else ())))
    assert shown in str(error)
    assert "tok-0123456789" not in str(error)
