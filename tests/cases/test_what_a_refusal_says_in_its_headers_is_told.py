"""A gateway says why in `Proxy-Status` or `WWW-Authenticate`, or in a body of its own form: the error reports it.

Source: RFC 9209 (`Proxy-Status`), RFC 6750 section 3 (`WWW-Authenticate: Bearer`), RFC 9457 (`title` and `detail`).
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da


def refused(response: bytes) -> da.DataAccessError:
    with serving(always(response)) as server:
        client = da.Client(server.base_url, token="tok-0123456789", retry_for=0)
        with pytest.raises(da.DataAccessError) as caught:
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    return caught.value


def page(status: str, *headers: str) -> bytes:
    return http(b"<html>no</html>", status, content_type="text/html", headers=headers)


def test_the_proxy_says_why_it_has_no_response() -> None:
    said = 'cdn.example; error=connection_timeout; details="no answer in 10 s"'
    error = refused(page("504 Gateway Timeout", f"Proxy-Status: {said}"))
    assert isinstance(error, da.ServerError)
    assert said in str(error)


def test_the_reason_of_a_401_is_told_and_the_token_in_it_is_not() -> None:
    said = 'Bearer error="invalid_token", error_description="tok-0123456789 expired"'
    error = refused(page("401 Unauthorized", f"WWW-Authenticate: {said}"))
    assert isinstance(error, da.PermissionDeniedError)
    assert 'error_description="<redacted> expired"' in str(error)


@pytest.mark.parametrize(
    "body",
    [
        {"type": "about:blank", "title": "Quota exceeded", "detail": "the quota of the day is used"},
        {"error": "invalid_request", "error_description": "the quota of the day is used"},
        {"error": {"code": 3, "message": "the quota of the day is used"}},
    ],
    ids=["problem", "oauth", "nested"],
)
def test_a_body_of_another_form_is_told(body: dict[str, Any]) -> None:
    error = refused(http(json.dumps(body).encode(), "403 Forbidden", content_type="application/problem+json"))
    assert "the quota of the day is used" in str(error)


def test_words_of_the_service_come_before_those_of_the_header() -> None:
    error = refused(
        http({"code": 400, "message": "no"}, "400 Bad", headers=("Proxy-Status: a; error=http_protocol_error",))
    )
    assert str(error).endswith("(HTTP 400): no")
