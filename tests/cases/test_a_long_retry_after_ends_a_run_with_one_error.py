"""A `Retry-After` that is longer than `retry_for` ends a run with one error, and nothing else is sent.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.raw_server import always, http, serving

import dataaccess as da

YEAR = da.days("2023-01-01", "2024-01-01")


@pytest.mark.parametrize("status", ["429 Slow", "503 Busy"])
def test_a_folder_of_a_year_sends_a_few_requests_and_ends(tmp_path: Path, status: str) -> None:
    busy = http(b"", status, headers=("Retry-After: 300",))
    with serving(always(busy)) as server, da.Client(server.base_url, token="t", concurrency=16) as client:
        with pytest.raises(da.ThrottledError) as caught:
            client.scan_codes(["id"], allocated_time=YEAR).to_folder(tmp_path)
        assert caught.value.retryable
        sent = client.stats.requests
        assert sent <= 16
        with pytest.raises(da.ThrottledError):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        assert client.stats.requests == sent


def test_a_code_in_the_envelope_means_the_same(tmp_path: Path) -> None:
    body: dict[str, Any] = {"code": 429, "message": "slow down"}
    busy = http(body, headers=("Retry-After: 300",))
    with serving(always(busy)) as server, da.Client(server.base_url, token="t", concurrency=16) as client:
        with pytest.raises(da.ThrottledError):
            client.scan_codes(["id"], allocated_time=YEAR).to_folder(tmp_path)
        assert len(server.requests) <= 16
