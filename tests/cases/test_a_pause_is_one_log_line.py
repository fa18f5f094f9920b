"""A pause that holds all requests of a client is one line of the log, and not one for each request.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

import threading
from typing import Any

import pytest
from support.raw_server import http, serving
from support.streams import client_of

import dataaccess as da


@pytest.mark.usefixtures("short_pauses")
def test_eight_refusals_are_one_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", "dataaccess.retry")
    arrived = threading.Barrier(8)

    def respond(connection: Any, number: int) -> None:
        if number < 8:
            arrived.wait(5)
        connection.sendall(http(b"", "429 Slow") if number < 8 else http())

    with serving(respond) as server:
        client = client_of(server, concurrency=8, retry_for=600)
        days = da.days("2024-01-01", "2024-01-17")
        assert len(client.scan_codes(["id"], allocated_time=days).to_dicts()) == 32
    assert len([record for record in caplog.records if record.name == "dataaccess.retry"]) == 1
