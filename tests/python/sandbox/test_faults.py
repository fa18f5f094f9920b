"""Faults of the sandbox: the errors that the clients raise, and how a test injects them."""

from __future__ import annotations

import gc
import threading
import time
import warnings
from datetime import timedelta
from typing import Any

import pytest
from support import kinds
from support.arguments import about
from support.plain_http import PlainService

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

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
    "status-501": ({"kind": "status", "status": 501}, da.ServerError, False),
    "status-403": ({"kind": "status", "status": 403}, da.PermissionDeniedError, False),
    "status-403-page": ({"kind": "status", "status": 403, "body": "<html>no"}, da.RequestRejectedError, False),
    "status-404": ({"kind": "status", "status": 404}, da.RequestRejectedError, False),
    "status-302": ({"kind": "status", "status": 302}, kinds.Redirect, False),
    "status-200-page": ({"kind": "status", "status": 200, "body": "<html>log in"}, kinds.NotJson, False),
    "status-502-page": (
        {"kind": "status", "status": 502, "body": "<html>Bad gateway", "content_type": "text/html"},
        da.ServerError,
        True,
    ),
    "redirect": ({"kind": "redirect", "location": "https://elsewhere.example/"}, kinds.Redirect, False),
    "redirect-308": ({"kind": "redirect", "location": "/access", "status": 308}, kinds.Redirect, False),
    "code-301": ({"kind": "code", "code": 301}, da.PermissionDeniedError, False),
    "code-404": ({"kind": "code", "code": 404, "message": "gone"}, da.ApiError, False),
    "code-503": ({"kind": "code", "code": 503}, da.ThrottledError, True),
    "expired-token": ({"kind": "expired_token"}, da.PermissionDeniedError, False),
    "late-301": ({"kind": "late_code", "code": 301}, da.PermissionDeniedError, False),
    "late-404": ({"kind": "late_code", "code": 404}, da.ApiError, False),
    "late-500": ({"kind": "late_code", "code": 500}, da.ServerError, True),
    "late-503": ({"kind": "late_code", "code": 503}, da.ThrottledError, True),
}
# What only a limit of time ends.
SLOW: dict[str, dict[str, Any]] = {
    "delay": {"kind": "delay", "seconds": 30},
    "stall": {"kind": "stall"},
    "stall-after-the-head": {"kind": "stall", "after_bytes": 0},
    "stall-in-the-body": {"kind": "stall", "after_bytes": 70},
    "drip": {"kind": "drip", "chunk_bytes": 1, "seconds": 0.05},
}


def search(client: Any) -> Any:
    return client.search_codes(["id"], allocated_time=da.on("2024-01-15"))


def ask(sandbox: da.Sandbox, options: dict[str, Any], **more: Any) -> Any:
    return sandbox.fault(**{**options, **more})


@pytest.mark.parametrize("case", CASES)
def test_each_fault_is_reported_by_its_class(connect: Any, own: da.Sandbox, case: str) -> None:
    options, expected, tried_again = CASES[case]
    client = connect(own, retry_for=0.2)
    with ask(own, options) as fault, pytest.raises(da.DataAccessError) as caught:
        search(client)
    assert kinds.kind_of(caught.value) is expected, repr(caught.value)
    assert caught.value.attempts == fault.hits == len(own.requests) == (2 if tried_again else 1)
    # A pause of 999 seconds holds the client that was asked for it.
    after = connect(own) if case == "status-429-for-long" else client
    assert search(after), "the fault is over"


@pytest.mark.parametrize("case", [case for case, (_, _, tried_again) in CASES.items() if tried_again])
def test_a_fault_that_passes_is_never_noticed(connect: Any, own: da.Sandbox, case: str) -> None:
    client = connect(own)
    expected = search(client)
    with ask(own, CASES[case][0], times=2) as fault:
        assert search(client) == expected
    assert fault.hits == 2


@pytest.mark.parametrize("case", SLOW)
def test_what_does_not_end_is_ended_by_the_clients_deadline(connect: Any, own: da.Sandbox, case: str) -> None:
    client = connect(own, timeout=0.5)
    started = time.monotonic()
    with ask(own, SLOW[case]) as fault, pytest.raises(da.RequestTimeoutError) as caught:
        search(client)
    assert time.monotonic() - started < 5
    # Before the headers or behind them.
    assert (caught.value.phase, fault.hits) in {("headers", 1), ("deadline", 1)}
    assert search(client)


def test_a_delay_and_a_drip_are_only_slow(connect: Any, own: da.Sandbox) -> None:
    client = connect(own)
    expected = client.download_segment(5637051)["entries"]
    with own.fault("delay", seconds=timedelta(milliseconds=200)):
        started = time.monotonic()
        assert client.download_segment(5637051)["entries"] == expected
        assert time.monotonic() - started >= 0.2
    with own.fault("drip", chunk_bytes=20, seconds=0.02):
        started = time.monotonic()
        assert client.download_segment(5637051)["entries"] == expected
        assert time.monotonic() - started >= 0.2


def test_a_stalled_response_continues_when_the_block_ends(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    expected = search(client)
    fault = own.fault("stall", after_bytes=100)
    with fault:
        threading.Timer(0.3, fault.__exit__, (None, None, None)).start()
        assert search(client) == expected
    assert fault.hits == 1


def test_a_fault_is_for_its_operation_and_its_turn(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    with own.fault("status", status=500, path="search", after=1, times=1) as fault:
        assert client.download_segment(5637051)
        assert search(client)
        with pytest.raises(da.ServerError):
            search(client)
        assert search(client)
    assert fault.hits == 1
    with own.fault("reset", path="/access/api/segment/download") as fault:
        assert search(client)
        with pytest.raises(da.ConnectionLostError):
            client.download_segment(5637051)
    assert fault.hits == 1


def test_the_outer_fault_wins_and_each_counts_its_own(connect: Any, own: da.Sandbox) -> None:
    client = connect(own, retry_for=0)
    with own.fault("status", status=500, times=1) as outer, own.fault("status", status=404) as inner:
        with pytest.raises(da.ServerError):
            search(client)
        with pytest.raises(da.RequestRejectedError):
            search(client)
    assert (outer.hits, inner.hits) == (1, 1)
    assert search(client)


def test_a_fault_ends_with_its_block_whatever_happens_in_it(own: da.Sandbox) -> None:
    client = own.client(retry_for=0)
    with pytest.raises(LookupError), own.fault("reset"):
        raise LookupError
    assert search(client)


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "reset", "after_bytes": 10**9},
        {"kind": "cut", "after_bytes": 10**9},
        {"kind": "stall", "after_bytes": 10**9},
        {"kind": "late_code", "code": 500},
        {"kind": "shrink"},
    ],
    ids=lambda options: options["kind"],
)
def test_a_response_that_passes_unchanged_is_no_hit(own: da.Sandbox, options: dict[str, Any]) -> None:
    client = own.client(retry_for=0)
    with own.fault(**options) as fault, pytest.raises(da.RequestRejectedError):
        client.download_segment(1)
    assert fault.hits == 0


@pytest.mark.parametrize("status", [204, 304])
def test_a_response_without_a_body_has_none(own: da.Sandbox, status: int) -> None:
    with own.fault("status", status=status), PlainService(own.base_url, own.issue_token()) as service:
        response = service.post("/access/api/segment/download", {"exportId": 5637051})
    assert (response.status, response.body) == (status, b"")
    assert "content-length" not in response.headers
    with pytest.raises(da.ConfigError, match=rf"^body .*\b{status}\b"):
        own.fault("status", status=status, body="text")


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


def test_a_fault_can_be_used_again_but_not_twice_at_once(own: da.Sandbox) -> None:
    client = own.client(retry_for=0)
    fault = own.fault("status", status=500)
    assert fault.hits == 0
    for _ in range(2):
        with fault, pytest.raises(da.ServerError):
            search(client)
        assert fault.hits == 1
    with fault, pytest.raises(da.SandboxError):
        fault.__enter__()
    assert repr(fault) == "Fault('status', path=None, hits=0)"


def test_threads_share_a_fault(own: da.Sandbox) -> None:
    client = own.client(retry_for=0)
    failures: list[BaseException] = []

    def work() -> None:
        for _ in range(5):
            try:
                search(client)
            except da.ServerError as error:
                failures.append(error)

    with own.fault("status", status=500, times=7) as fault:
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(failures) == fault.hits == 7


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kind": "explode"}, "kind"),
        ({"kind": "drip", "seconds": 1, "chunk_bytes": 0}, "chunk_bytes"),
        ({"kind": "reset", "after_bytes": -1}, "after_bytes"),
        ({"kind": "reset", "after_bytes": 1.5}, "after_bytes"),
        ({"kind": "reset", "after_bytes": True}, "after_bytes"),
        ({"kind": "reset", "times": 0}, "times"),
        ({"kind": "reset", "after": "1"}, "after"),
        ({"kind": "reset", "path": "both"}, "path"),
        ({"kind": "reset", "path": 1}, "path"),
        ({"kind": "status", "status": 100}, "status"),
        ({"kind": "status", "status": 503, "retry_after": 0.5}, "retry_after"),
        ({"kind": "status", "status": 503, "body": b"x"}, "body"),
        ({"kind": "status", "status": 503, "body": 1}, "body"),
        ({"kind": "status", "status": 503, "headers": {"A B": "x"}}, "headers"),
        ({"kind": "status", "status": 503, "headers": {"Content-Length": "1"}}, "headers"),
        ({"kind": "status", "status": 503, "content_type": "a\r\nb"}, "content_type"),
        ({"kind": "redirect", "location": "/", "status": 200}, "status"),
        ({"kind": "code", "code": 2**70}, "fault"),
        ({"kind": "delay", "seconds": 2, "max_seconds": 1}, "max_seconds"),
        ({"kind": "shrink", "keep": 1}, "keep"),
        ({"kind": "reset", "probability": 0}, "probability"),
        ({"kind": "reset", "probability": float("nan")}, "probability"),
        ({"kind": "reset", "seed": -1}, "seed"),
        ({"kind": "reset", "where": {"date": "x"}}, "where"),
        ({"kind": "reset", "where": {"day": "15.01."}}, "where.day"),
        ({"kind": "reset", "where": {"export_id": 1}}, "where"),
        ({"kind": "reset", "where": {"contains": 1}}, "where.contains"),
        ({"kind": "reset", "where": {"day": object()}}, "where"),
        ({"kind": "reset", "where": "2024-01-15"}, "where"),
        ({"kind": "delay", "seconds": -1}, "seconds"),
        ({"kind": "delay", "seconds": float("inf")}, "seconds"),
        ({"kind": "delay", "seconds": float("nan")}, "seconds"),
        ({"kind": "delay", "seconds": "1"}, "seconds"),
        ({"kind": "late_code", "code": "301"}, "code"),
    ],
)
def test_a_fault_that_is_invalid_is_refused_where_it_is_written(
    sandbox: da.Sandbox, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(da.ConfigError, check=about(named)):
        sandbox.fault(**options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kind": "reset", "status": 500}, "status"),
        ({"kind": "slow", "seconds": 1}, "seconds"),
        ({"kind": "status"}, "status"),
        ({"kind": "drip", "seconds": 1}, "chunk_bytes"),
        ({"kind": "redirect"}, "location"),
        ({"kind": "code"}, "code"),
    ],
)
def test_an_option_that_a_fault_lacks_or_does_not_take_is_named(
    sandbox: da.Sandbox, options: dict[str, Any], named: str
) -> None:
    with pytest.raises(da.ConfigError, match=rf"`{options['kind']}` .*\b{named}$"):
        sandbox.fault(**options)


def test_no_fault_begins_when_the_sandbox_has_stopped() -> None:
    with da.Sandbox() as sandbox:
        fault = sandbox.fault("reset")
    with pytest.raises(da.SandboxError):
        fault.__enter__()
