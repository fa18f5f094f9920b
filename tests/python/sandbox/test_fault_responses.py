"""What the client does with a gateway's page, a redirect, an expired token, and each preset of the sandbox."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support import kinds
from support.plain_http import PlainService

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

PAGE = "<html><h1>Bad gateway</h1></html>"
DAY = da.on("2024-01-15")


def test_a_page_of_a_gateway_is_retried_and_is_no_data(connect: Any, own: da.Sandbox) -> None:
    options: Any = {"status": 502, "content_type": "text/html", "body": PAGE, "headers": {"Via": "1.1 gateway"}}
    client = connect(own)
    expected = client.search_codes(allocated_time=DAY)
    with own.fault("status", times=2, **options) as fault:
        rows = client.search_codes(allocated_time=DAY)
    assert (rows, fault.hits) == (expected, 2)
    with own.fault("status", **options), pytest.raises(da.ServerError, match="text/html") as caught:
        connect(own, retry_for=0).search_codes(allocated_time=DAY)
    assert "Bad gateway" not in str(caught.value)
    assert "Bad gateway" in (caught.value.body_excerpt or "")


def test_headers_and_content_type_are_sent(own: da.Sandbox) -> None:
    headers = {"X-Trace": "abc", "Retry-After": "9"}
    fault = own.fault("status", status=503, retry_after=1, body=PAGE, content_type="text/html", headers=headers)
    with fault, PlainService(own.base_url, own.issue_token()) as service:
        response = service.post("/access/api/segment/download", {"exportId": 5637051})
    assert (response.status, response.body) == (503, PAGE.encode())
    sent = [response.headers[name] for name in ("content-type", "x-trace", "retry-after")]
    assert sent == ["text/html", "abc", "9"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_refused_and_the_token_goes_nowhere_else(connect: Any, own: da.Sandbox, status: int) -> None:
    client = connect(own)
    with da.Sandbox.demo() as elsewhere:
        location = f"{elsewhere.base_url}/access/api/item/search"
        with own.fault("redirect", location=location, status=status) as fault:
            with pytest.raises(kinds.Redirect):
                client.search_codes(allocated_time=DAY)
            with PlainService(own.base_url, own.issue_token()) as service:
                response = service.post("/access/api/segment/download", {"exportId": 5637051})
        assert elsewhere.requests == []
    assert fault.hits == 2
    assert (response.status, response.headers["location"], response.body) == (status, location, b"")


def test_a_code_in_the_envelope_is_a_failure_with_its_message(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    with own.fault("code", code=1234, message="quota used up"), pytest.raises(da.ApiError) as caught:
        client.search_codes(allocated_time=DAY)
    assert (caught.value.code, caught.value.api_message) == (1234, "quota used up")
    with own.fault("code", code=301), pytest.raises(da.PermissionDeniedError):
        client.download_segment(5637051)
    assert [request.status for request in own.requests] == [200, 200]


def test_flaky_is_survived_by_retries(connect: Any, own: da.Sandbox) -> None:
    scan = connect(own).scan_codes(["id"], allocated_time=da.month("2024-01"))
    expected = scan.to_dicts()
    own.clear_requests()
    with own.fault("flaky", path="search", seed=5) as fault:
        assert scan.to_dicts() == expected
    # A proxy's page, and connections that break.
    assert {request.status for request in own.requests} == {200, 502, None}
    assert fault.hits > 5


def test_slow_is_slow_and_nothing_else(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, timeout=0.2, retry_for=0)
    with own.fault("slow") as fault, pytest.raises(da.RequestTimeoutError):
        client.download_segment(5637051)
    with own.fault("delay", seconds=0.0, max_seconds=0.02, seed=3) as fault:
        assert all(client.download_segment(5637051) for _ in range(5))
    assert fault.hits == 5


def test_throttled_is_waited_for(connect: Any, own: da.Sandbox) -> None:
    client = connect(own)
    with own.fault("throttled") as fault:
        for _ in range(5):
            assert client.search_codes(["id"], allocated_time=DAY)
    assert fault.hits > 0
    assert [request.status for request in own.requests].count(429) == fault.hits
    with own.fault("throttled", probability=1.0), pytest.raises(da.ThrottledError) as caught:
        connect(own, retry_for=0).search_codes(["id"], allocated_time=DAY)
    assert caught.value.retry_after == 1


def test_an_expired_token_stays_expired_and_a_new_one_is_requested(own: da.Sandbox) -> None:
    with own.client(retry_for=0) as client, own.fault("expired-token", after=1) as fault:
        assert client.search_codes(["id"], allocated_time=DAY)
        for _ in range(2):
            with pytest.raises(da.PermissionDeniedError):
                client.search_codes(["id"], allocated_time=DAY)
        assert own.client().search_codes(["id"], allocated_time=DAY)
    assert fault.hits == 2

    issued: list[str] = []

    def token() -> str:
        issued.append(own.issue_token())
        return issued[-1]

    days = da.days("2024-01-01", "2024-01-11")
    with da.Client(own.base_url, token=token) as client, own.fault("expired-token", after=3) as fault:
        assert client.scan_codes(["id"], allocated_time=days).to_dicts()
    assert len(issued) == 2
    assert fault.hits >= 1


def test_a_shrunk_day_is_noticed_by_a_refresh(connect: Any, own: da.Sandbox, tmp_path: Path) -> None:
    scan = connect(own).scan_codes(["id"], allocated_time=da.days("2024-01-14", "2024-01-17"))
    rows = scan.to_folder(tmp_path).rows
    with own.fault("shrinking", where={"day": "2024-01-15"}) as fault:
        with pytest.warns(da.ShrunkWarning, match="2024-01-15"):
            report = scan.to_folder(tmp_path, refresh="all")
        assert (report.rows, fault.hits) == (rows, 1)
        with pytest.raises(da.ScanIncompleteError, match="2024-01-15"):
            scan.to_folder(tmp_path, refresh="all", on_doubt="error")
        shrunk = scan.to_folder(tmp_path, accept="2024-01-15").rows
    assert shrunk < rows
    assert scan.to_folder(tmp_path, refresh="all").rows == rows
