"""A run ends with one error, `retry_for` after the service began to fail, or at once if it asks for a longer pause.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import RESPONSE, Close, http, serving

import dataaccess as da

BODY = json.dumps(RESPONSE).encode()
FAILURES = {
    "500": http(b"", "500 Broken"),
    "503": http(b"", "503 Down"),
    "429": http(b"", "429 Slow"),
    # As long as `retry_for`.
    "503 with Retry-After": http(b"", "503 Down", headers=("Retry-After: 1",)),
    "code 500": http({"code": 500, "message": "broken"}),
    "late code": http({"data": RESPONSE["data"], "code": 500}),
    "cut": http(BODY)[:-9],
    "too long": http(b"", "503 Busy", headers=("Retry-After: 300",)),
    "too long with a code": http({"code": 429}, headers=("Retry-After: 300",)),
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("use", ["to_folder", "to_dicts"])
def test_a_run_of_thirty_days_ends_once(
    tmp_path: Path, time_scale: Callable[[int], None], failure: str, use: str
) -> None:
    def respond(connection: Any, _number: int) -> None:
        connection.sendall(FAILURES[failure])
        raise Close

    time_scale(10)
    with serving(respond) as server, da.Client(server.base_url, token="t", retry_for=15) as client:
        scan = client.scan_codes(["id"], allocated_time=da.days("2024-01-01", "2024-01-31"))
        with pytest.raises(da.DataAccessError) as caught:
            getattr(scan, use)(*[tmp_path] * (use == "to_folder"))
        assert caught.value.elapsed < 6
        assert caught.value.retryable
        assert not isinstance(caught.value, da.ScanIncompleteError)
        assert len(server.requests) <= (8 if "too long" in failure else 20)
