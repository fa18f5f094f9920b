"""The status with which a proxy refuses `CONNECT` is in the error: 403 and 407 are final, 502 to 504 are retried.

Source: RFC 9110, section 9.3.6 (any status but 2xx means that there is no tunnel); a trial of nightly jobs.
"""

from __future__ import annotations

from typing import Any

import pytest
from support import kinds
from support.raw_server import Close, http, serving

import dataaccess as da


@pytest.mark.usefixtures("short_pauses")
@pytest.mark.parametrize(
    ("status", "is_retried"),
    [
        ("400 Bad Request", False),
        ("403 Forbidden", False),
        ("407 Proxy Authentication Required", False),
        ("429 Too Many Requests", True),
        ("502 Bad Gateway", True),
        ("503 Service Unavailable", True),
        ("504 Gateway Timeout", True),
    ],
)
def test_it_is_shown(status: str, *, is_retried: bool) -> None:
    def refuse(connection: Any, _number: int) -> None:
        connection.sendall(http(b"<html>no</html>", status, content_type="text/html"))
        raise Close

    with serving(refuse) as proxy:
        address = proxy.base_url.replace("//", "//robot:hunter2@")
        client = da.Client(
            "https://service.invalid",
            token="tok-secret",
            proxy=address,
            headers={"X-Api-Key": "HdrSecretVal1"},
            retry_for=1,
        )
        with pytest.raises(kinds.Proxy) as caught:
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
    error = caught.value
    assert error.status == int(status[:3])
    assert f"HTTP {status[:3]}" in str(error)
    assert (error.attempts > 1) is is_retried
    assert {request.path for request in proxy.requests} == {"service.invalid:443"}
    for request in proxy.requests:
        assert "proxy-authorization" in request.headers
        assert not {"authorization", "x-api-key"} & request.headers.keys()
