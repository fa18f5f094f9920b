"""The full figures of the idle race: ten thousand requests to a service that closes connections as they are used."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.idle_servers import closing_idle
from support.raw_server import http, serving

import dataaccess as da

pytestmark = [pytest.mark.soak, pytest.mark.timeout(600)]


@pytest.mark.parametrize("idle", [0.001, 0.004])
def test_ten_thousand_requests_survive_idle_connection_closes(connect: Any, idle: float) -> None:
    with serving(closing_idle(http(), idle)) as server:
        client = connect(server.base_url, retry_for=0.2)
        for _ in range(10_000):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
            time.sleep(idle)
        stats = client.stats
        assert stats.retries == 0, stats
        assert len(server.requests) <= 10_000 * 1.01, stats
