"""HAProxy before the service: TLS of a private CA, a service that is down, and one that is too slow."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.programs import found, free_port, running
from support.searches import search

import dataaccess as da

CONFIGURATION = """
defaults
    mode http
    retries 0
    timeout connect 1s
    timeout client 20s
    timeout server 1s
frontend secured
    bind 127.0.0.1:{port} ssl crt {pem} alpn h2,http/1.1
    use_backend gone if {{ path_beg /gone }}
    use_backend limited if {{ path_beg /limited }}
    default_backend service
backend service
    server one {service}
backend gone
    server one 127.0.0.1:{gone}
backend limited
    http-request set-path %[path,regsub(^/limited,)]
    stick-table type integer size 10 expire 10s store gpc0
    http-request track-sc0 int(1)
    http-request sc-inc-gpc0(0)
    http-request return status 429 hdr Retry-After 0 if {{ sc0_get_gpc0 lt 3 }}
    server one {service}
"""


@pytest.fixture
def proxy_url(tmp_path: Path, pem: Path, sandbox: da.Sandbox) -> Iterator[str]:
    program = found("haproxy")
    port = free_port()
    configuration = tmp_path / "haproxy.cfg"
    service = sandbox.base_url.removeprefix("http://")
    configuration.write_text(CONFIGURATION.format(port=port, pem=pem, service=service, gone=free_port()))
    with running(tmp_path, port, program, "-db", "-f", str(configuration)):
        yield f"https://localhost:{port}"


def test_the_same_rows_come_through_haproxy_by_http_1(connect: Any, proxy_url: str, options: Any, rows: Any) -> None:
    client = connect(proxy_url, **options)
    assert [search(client) for _ in range(3)] == [rows] * 3


def test_a_service_that_is_down_is_retried(connect: Any, proxy_url: str, options: Any) -> None:
    with pytest.raises(da.ThrottledError) as caught:
        search(connect(f"{proxy_url}/gone", retry_for=0.2, **options))
    assert (caught.value.status, caught.value.attempts) == (503, 2)


@pytest.mark.slow
def test_429_with_retry_after_is_retried(connect: Any, proxy_url: str, options: Any, rows: Any) -> None:
    assert search(connect(f"{proxy_url}/limited", **options)) == rows


@pytest.mark.slow
def test_a_service_that_is_too_slow_is_reported_as_the_gateway_says(
    connect: Any, proxy_url: str, options: Any, sandbox: da.Sandbox
) -> None:
    with sandbox.fault("delay", seconds=5), pytest.raises(da.ServerError) as caught:
        search(connect(proxy_url, retry_for=0, **options))
    assert caught.value.status == 504
