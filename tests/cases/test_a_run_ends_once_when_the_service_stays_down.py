"""A run ends with one error, `retry_for` after the service began to fail, whatever the failure and the number of tasks.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import RESPONSE, Close, http, serving

import dataaccess as da

THIRTY_DAYS = da.days("2024-01-01", "2024-01-31")
BODY = json.dumps(RESPONSE).encode()
LATE = json.dumps({"data": RESPONSE["data"], "message": "broken", "code": 500}).encode()
FAILURES = {
    "500": http(b"", "500 Broken"),
    "503": http(b"", "503 Down"),
    "429": http(b"", "429 Slow"),
    "503 with Retry-After": http(b"", "503 Down", headers=("Retry-After: 1",)),
    "code 500": http({"code": 500, "message": "broken"}),
    "late code": http(LATE),
    "cut": http(BODY)[:-9],
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("use", ["folder", "collect"])
def test_a_run_of_thirty_days_ends_once(
    tmp_path: Path, time_scale: Callable[[int], None], failure: str, use: str
) -> None:
    def respond(connection: Any, _number: int) -> None:
        connection.sendall(FAILURES[failure])
        raise Close

    # `Retry-After` is as long as `retry_for`.
    time_scale(10)
    with serving(respond) as server, da.Client(server.base_url, token="t", retry_for=15) as client:
        scan = client.scan_codes(["id"], allocated_time=THIRTY_DAYS)
        began = time.monotonic()
        with pytest.raises(da.DataAccessError) as caught:
            _ = scan.to_folder(tmp_path) if use == "folder" else scan.to_dicts()
        assert time.monotonic() - began < 6
        assert caught.value.retryable
        assert not isinstance(caught.value, da.ScanIncompleteError)
        assert len(server.requests) <= 8 + 12
