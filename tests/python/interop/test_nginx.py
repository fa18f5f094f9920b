"""nginx before the service: TLS of a private authority, compression, refusals, and a limit on requests."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
from support import kinds
from support.programs import found, free_port, running
from support.searches import search

import dataaccess as da

CONFIGURATION = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    log_format status '$status $http_x_request_id';
    access_log {folder}/access.log status;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    gzip on;
    gzip_types application/json;
    gzip_min_length 1;
    gzip_proxied any;
    limit_req_zone $binary_remote_addr zone=all:1m rate=2r/s;
    limit_req_status 429;
    server {{
        listen 127.0.0.1:{secured} ssl;
        ssl_certificate {pem};
        ssl_certificate_key {pem};
        keepalive_requests 2;
        location / {{ proxy_pass {service}; }}
        location /limited/ {{ limit_req zone=all; proxy_pass {service}/; }}
        location /gone/ {{ proxy_pass http://127.0.0.1:{gone}/; }}
    }}
}}
"""


class Nginx:
    def __init__(self, folder: Path, port: int) -> None:
        self._folder, self.secured = folder, f"https://localhost:{port}"

    def statuses(self, requests: int) -> Counter[str]:
        """The number of responses by status, once it has logged so many requests, which it does afterwards."""
        until = time.monotonic() + 20
        while True:
            lines = (self._folder / "access.log").read_text(encoding="utf-8").splitlines()
            if len(lines) >= requests or time.monotonic() > until:
                return Counter(line.split()[0] for line in lines)
            time.sleep(0.02)


@pytest.fixture
def front(tmp_path: Path, pem: Path, sandbox: da.Sandbox) -> Iterator[Nginx]:
    program = found("nginx")
    port, configuration = free_port(), tmp_path / "nginx.conf"
    given = {"folder": tmp_path, "pem": pem, "service": sandbox.base_url, "secured": port, "gone": free_port()}
    configuration.write_text(CONFIGURATION.format(**given))
    command = (program, "-p", str(tmp_path), "-e", str(tmp_path / "error.log"), "-c", str(configuration))
    with running(tmp_path, port, *command):
        yield Nginx(tmp_path, port)


def test_the_same_rows_come_through_tls_and_compression(connect: Any, front: Nginx, options: Any, rows: Any) -> None:
    assert len(rows) > 10
    for encodings in (None, {"Accept-Encoding": "identity"}):
        client = connect(front.secured, headers=encodings, **options)
        # It closes each connection after two requests.
        assert [search(client) for _ in range(5)] == [rows] * 5
    assert front.statuses(10) == {"200": 10}


def test_columns_are_streamed_through_it(connect: Any, front: Nginx, options: Any, rows: Any) -> None:
    scan = connect(front.secured, **options).scan_codes(allocated_time=da.on("2024-01-15"))
    assert sum(batch.num_rows for batch in scan.batches(max_rows=7)) == len(rows)


def test_a_client_without_the_ca_sends_nothing(connect: Any, front: Nginx, options: Any, tmp_path: Path) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    with pytest.raises(kinds.Tls) as caught:
        search(connect(front.secured, **{**options, "ca_bundle": other}))
    assert (caught.value.reason, front.statuses(0)) == ("unknown issuer", {})


def test_an_unreachable_service_is_retried(connect: Any, front: Nginx, options: Any) -> None:
    with pytest.raises(da.ServerError) as caught:
        search(connect(f"{front.secured}/gone", retry_for=0.2, **options))
    assert (caught.value.status, caught.value.attempts, front.statuses(2)) == (502, 2, {"502": 2})


@pytest.mark.slow
def test_a_client_that_is_refused_for_its_speed_gets_its_rows(
    connect: Any, front: Nginx, options: Any, rows: Any
) -> None:
    client = connect(f"{front.secured}/limited", **options)
    assert [search(client) for _ in range(4)] == [rows] * 4
    statuses = front.statuses(client.stats.requests)
    assert statuses["200"] == 4
    assert statuses["429"] > 0
