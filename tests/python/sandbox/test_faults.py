"""What each fault of the sandbox, and each preset, does to a client; and how long a fault lasts."""

from __future__ import annotations

import gc
import threading
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from datetime import date
from typing import Any, get_args

import pytest
from support import kinds
from support.searches import search
from support.service_machine import Tokens

import dataaccess as da
from dataaccess import _native
from dataaccess._sandbox.faults import FaultKind, FaultPreset

pytestmark = pytest.mark.usefixtures("short_pauses")

PAGE = "<html><h1>Bad gateway</h1></html>"

# The fault, the class that it raises, and whether the request is retried.
CASES: dict[str, tuple[dict[str, Any], type[da.DataAccessError], bool]] = {
    "reset": ({"kind": "reset"}, kinds.Lost, True),
    "reset-after-the-head": ({"kind": "reset", "after_bytes": 0}, kinds.Lost, True),
    "reset-in-the-body": ({"kind": "reset", "after_bytes": 70}, kinds.Lost, True),
    "cut": ({"kind": "cut"}, kinds.Lost, True),
    "cut-after-the-head": ({"kind": "cut", "after_bytes": 0}, kinds.Truncated, True),
    "cut-in-the-body": ({"kind": "cut", "after_bytes": 70}, kinds.Truncated, True),
    "garbage": ({"kind": "garbage"}, kinds.Malformed, False),
    "status-503": ({"kind": "status", "status": 503, "retry_after": 0}, da.ThrottledError, True),
    "status-429": ({"kind": "status", "status": 429, "retry_after": 0}, da.ThrottledError, True),
    "status-429-for-long": ({"kind": "status", "status": 429, "retry_after": 999}, da.ThrottledError, False),
    "status-500": ({"kind": "status", "status": 500}, da.ServerError, True),
    "status-403": ({"kind": "status", "status": 403}, da.PermissionDeniedError, False),
    "status-403-page": ({"kind": "status", "status": 403, "body": "<html>no"}, da.RequestRejectedError, False),
    "status-200-page": ({"kind": "status", "status": 200, "body": "<html>log in"}, kinds.NotJson, False),
    "status-502-page": ({"kind": "status", "status": 502, "body": PAGE}, da.ServerError, True),
    "redirect": ({"kind": "redirect", "location": "https://elsewhere.example/"}, kinds.Redirect, False),
    "redirect-308": ({"kind": "redirect", "location": "/access", "status": 308}, kinds.Redirect, False),
    "code-301": ({"kind": "code", "code": 301}, da.PermissionDeniedError, False),
    "code-404": ({"kind": "code", "code": 404, "message": "gone"}, da.ApiError, False),
    "code-503": ({"kind": "code", "code": 503}, da.ThrottledError, True),
    "expired-token": ({"kind": "expired_token"}, da.PermissionDeniedError, False),
    "late-404": ({"kind": "late_code", "code": 404}, da.ApiError, False),
    "late-500": ({"kind": "late_code", "code": 500}, da.ServerError, True),
}
# What only a limit of time ends.
SLOW: dict[str, dict[str, Any]] = {
    "delay": {"kind": "delay", "seconds": 30},
    "stall": {"kind": "stall"},
    "stall-after-the-head": {"kind": "stall", "after_bytes": 0},
    "stall-in-the-body": {"kind": "stall", "after_bytes": 70},
    "drip": {"kind": "drip", "chunk_bytes": 1, "seconds": 0.05},
}


@pytest.mark.parametrize("case", CASES)
def test_each_fault_is_reported_by_its_class(connect: Any, own: da.Sandbox, case: str) -> None:
    options, expected, tried_again = CASES[case]
    client = connect(own, retry_for=0.2)
    with own.fault(**options) as fault, pytest.raises(da.DataAccessError) as caught:
        search(client)
    assert kinds.kind_of(caught.value) is expected, repr(caught.value)
    assert caught.value.attempts == fault.hits == len(own.requests) == (2 if tried_again else 1)
    # A pause of 999 seconds holds the client that was asked for it.
    after = connect(own) if case == "status-429-for-long" else client
    assert search(after), "the fault is over"


@pytest.mark.parametrize("case", SLOW)
def test_what_does_not_end_is_ended_by_the_clients_deadline(connect: Any, own: da.Sandbox, case: str) -> None:
    client = connect(own, timeout=0.5)
    started = time.monotonic()
    with own.fault(**SLOW[case]) as fault, pytest.raises(da.RequestTimeoutError) as caught:
        search(client)
    assert time.monotonic() - started < 5
    # Before the headers or behind them.
    assert (caught.value.phase, fault.hits) in {("headers", 1), ("deadline", 1)}
    assert search(client)


def test_a_stalled_response_continues_when_the_block_ends(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    expected = search(client)
    fault = own.fault("stall", after_bytes=100)
    with fault:
        threading.Timer(0.3, fault.__exit__, (None, None, None)).start()
        assert search(client) == expected
    assert fault.hits == 1


@pytest.mark.parametrize(("options", "share"), [({}, 0.25), ({"keep": 0.5}, 0.5)])
def test_a_search_that_shrinks_has_its_first_rows(own: da.Sandbox, options: Any, share: float) -> None:
    client = own.client()
    rows = search(client)
    with own.fault("shrink", **options) as fault:
        assert search(client) == rows[: int(len(rows) * share)]
    assert fault.hits == 1


def test_flaky_is_survived_by_retries(connect: Any, own: da.Sandbox) -> None:
    scan = connect(own).scan_codes(["id"], allocated_time=da.month("2024-01"))
    expected = scan.to_dicts()
    own.clear_requests()
    with own.fault("flaky", path="search", seed=5) as fault:
        assert scan.to_dicts() == expected
    # A proxy's page, and connections that break.
    assert {request.status for request in own.requests} == {200, 502, None}
    assert fault.hits > 5


def test_throttled_is_waited_for(connect: Any, own: da.Sandbox) -> None:
    client = connect(own)
    with own.fault("throttled", seed=1) as fault:
        while not fault.hits:
            assert search(client)
    assert [request.status for request in own.requests].count(429) == fault.hits
    with own.fault("throttled", probability=1.0), pytest.raises(da.ThrottledError) as caught:
        search(connect(own, retry_for=0))
    assert caught.value.retry_after == 1


def test_an_expired_token_is_renewed_once(own: da.Sandbox) -> None:
    tokens = Tokens(own)
    days = da.days("2024-01-01", "2024-01-11")
    with da.Client(own.base_url, token=tokens) as client, own.fault("expired-token", after=3) as fault:
        assert client.scan_codes(["id"], allocated_time=days).to_dicts()
    # One that nobody asked for, and two.
    assert len(tokens.issued) == 1 + 2
    assert fault.hits >= 1


@pytest.mark.filterwarnings("always")
def test_a_fault_that_was_never_in_force_warns(own: da.Sandbox) -> None:
    with pytest.warns(da.DataAccessWarning, match=r"^sandbox\.fault\('reset', …\) ") as seen:
        own.fault("reset")
    assert [warning.filename for warning in seen] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with own.fault("reset"):
            pass
        gc.collect()
    assert search(own.client(retry_for=0))


DAY = da.on("2024-01-15")


@pytest.mark.parametrize("day", ["2024-01-15", date(2024, 1, 15)])
def test_a_fault_of_one_day_hits_that_day_of_a_month_alone(
    connect: Any, own: da.Sandbox, day: object, tmp_path: Any
) -> None:
    scan = connect(own, retry_for=0).scan_codes(["id"], allocated_time=da.month("2024-01"))
    with (
        own.fault("status", status=500, where={"day": day}) as fault,
        pytest.raises(da.ScanIncompleteError, match="2024-01-15"),
    ):
        scan.to_folder(tmp_path)
    assert fault.hits == 1
    assert [request.status for request in own.requests].count(200) == 30
    assert scan.to_folder(tmp_path).new == 1


@pytest.mark.parametrize(
    ("where", "hit"),
    [
        ({"contains": '"itemTypeName":"customer"'}, "items"),
        ({"contains": '"exportId":5637051'}, "download"),
        ({"contains": '"column":"code_status"'}, "codes"),
        ({"contains": '"customer"', "day": "2024-01-15"}, None),
    ],
)
def test_a_fault_hits_what_the_body_contains(own: da.Sandbox, where: dict[str, Any], hit: str | None) -> None:
    client = own.client(retry_for=0)
    calls: dict[str, Callable[[], object]] = {
        "items": lambda: client.search_items("customer", ["name"], da.col("customer_id").equals("1")),
        "codes": lambda: client.search_codes(["id"], allocated_time=DAY, code_status=1),
        "download": lambda: client.download_segment(5637051),
    }
    with own.fault("status", status=400, where=where) as fault:
        for name, call in calls.items():
            with pytest.raises(da.RequestRejectedError) if name == hit else nullcontext():
                call()
    assert fault.hits == (hit is not None)


def test_a_fault_is_for_its_operation_and_its_turn(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    with own.fault("status", status=500, path="search", after=1, times=1) as fault:
        assert client.download_segment(5637051)
        assert client.search_codes(["id"], allocated_time=DAY)
        with pytest.raises(da.ServerError):
            client.search_codes(["id"], allocated_time=DAY)
        assert client.search_codes(["id"], allocated_time=DAY)
    assert fault.hits == 1
    with own.fault("reset", path="/access/api/segment/download") as fault:
        assert client.search_codes(["id"], allocated_time=DAY)
        with pytest.raises(da.ConnectionLostError):
            client.download_segment(5637051)
    assert fault.hits == 1


def test_python_and_the_core_know_the_same_kinds_and_presets() -> None:
    for member, words in (("kind", get_args(FaultKind)), ("preset", get_args(FaultPreset))):
        with pytest.raises(da.ConfigError) as caught:
            _native.check_fault({member: "?"})
        assert ", ".join(f'"{word}"' for word in words) in str(caught.value)
