"""Limits in time: what `timeout=` bounds, and which limit an error names when it ended the retries."""

from __future__ import annotations

import time
from typing import Any

import pytest
from support.raw_server import always, http, serving, silent

import dataaccess as da

ON_A_DAY: dict[str, Any] = {"allocated_time": da.on("2024-01-15")}
EIGHT_DAYS: dict[str, Any] = {"allocated_time": da.days("2024-01-01", "2024-01-09")}
DOWN = http(b"", "500 Broken")


def late(connection: Any, _number: int) -> None:
    time.sleep(0.15)
    connection.sendall(http())


@pytest.mark.quiet
@pytest.mark.parametrize(("call", "of_client"), [({"timeout": 0.4}, {}), ({}, {"timeout": 0.4})])
def test_the_timeout_of_a_search_bounds_all_days(connect: Any, call: Any, of_client: Any) -> None:
    with serving(late) as server:
        client = connect(server.base_url, concurrency=1, **of_client)
        began = time.monotonic()
        with pytest.raises(da.RequestTimeoutError, match=r" [23] of 8 \(2024-01-0[23]\): .* 0\.4 s\b") as caught:
            client.search_codes(["id"], **EIGHT_DAYS, **call)
        assert 0.4 <= time.monotonic() - began < 0.8
        assert caught.value.operation == "search_codes"
        assert len(server.requests) <= 3
        # A scan has it for each request.
        assert len(client.with_options(**call).scan_codes(["id"], **EIGHT_DAYS).to_dicts()) == 16


def test_the_attempt_that_a_timeout_ends_names_the_failure_before(connect: Any) -> None:
    with serving(lambda connection, number: (silent(b"") if number else always(DOWN))(connection, number)) as server:
        with pytest.raises(da.RequestTimeoutError, match=r" timeout \(0\.7 s\) .*: ServerError") as caught:
            connect(server.base_url, timeout=0.7).search_codes(["id"], **ON_A_DAY)
        assert (caught.value.attempts, len(caught.value.history)) == (2, 2)
        with pytest.raises(da.RequestTimeoutError) as caught:
            connect(server.base_url, timeout=0.2).search_codes(["id"], **ON_A_DAY)
        assert "timeout (" not in str(caught.value)


def test_a_check_waits_its_timeout_once(connect: Any) -> None:
    with serving(silent(b"")) as server:
        began = time.monotonic()
        check = connect(server.base_url).check("2024-01-15", timeout=0.3)
        assert 0.3 <= time.monotonic() - began < 10
        assert len(server.requests) == 1
    assert (check.is_ok, list(check.errors)) == (False, ["scope item"])
    assert " 0.3 s" in str(check.errors["scope item"])
    assert (check.scopes, check.answers["timezone"].is_right) == ({"item": None, "download": None}, None)
