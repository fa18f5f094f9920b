"""Segment exports: download and wait (sections 2.5, 3.2 and 4.3)."""

from __future__ import annotations

import asyncio
import json
import pickle
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from support import kinds
from support.raw_server import ENTRY, EXPORT, always, http, in_turn, serving

import dataaccess as da

END = "2024-01-15T08:05:00.000Z"


def export(*ends: str | None, total: int | None = None) -> dict[str, Any]:
    entries = [{**ENTRY, "endTime": end} for end in ends]
    meta = {"total": len(entries) if total is None else total}
    return {**EXPORT, "data": {"entries": entries, "meta": meta}}


def test_a_finished_export_has_all_the_specification_names(client: Any) -> None:
    response = client.download_segment(5637051)
    assert list(response) == ["entries", "meta", "code", "message", "codeMessage", "duration"]
    assert (response["code"], response["message"], response["codeMessage"]) == (200, "Success", None)
    assert response["duration"].endswith("ms")
    assert response["meta"] == {"total": len(response["entries"])}
    assert all(set(entry) == set(ENTRY) for entry in response["entries"])
    assert all(entry["endTime"] for entry in response["entries"])
    assert json.loads(json.dumps(response)) == response


def test_waiting_ends_when_every_entry_has_ended(connect: Any) -> None:
    responses = [export(), export(None, None), export(END, None), export(END, END)]
    updates: list[dict[str, Any]] = []
    with serving(in_turn(*map(http, responses))) as server:
        response = connect(server.base_url).wait_for_segment(
            7, timeout=timedelta(seconds=20), poll=0.01, on_update=updates.append
        )
        assert len(server.requests) == 4
    assert [entry["endTime"] for entry in response["entries"]] == [END, END]
    assert [len(update["entries"]) for update in updates] == [0, 2, 2, 2]
    assert updates[-1] == response


def test_a_wait_that_times_out_has_the_last_response(connect: Any) -> None:
    with serving(always(http(export(None)))) as server:
        started = time.monotonic()
        with pytest.raises(da.WaitTimeoutError) as caught:
            connect(server.base_url).wait_for_segment(7, timeout=0.3, poll=0.05)
    assert time.monotonic() - started < 5
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.last is not None
    assert caught.value.last["entries"][0]["endTime"] is None
    assert re.search(rf"\bentry 1 .*{ENTRY['startTime']}", str(caught.value))


def ended_with(*codes: Any, **fields: Any) -> dict[str, Any]:
    """An export whose entries have ended with these codes."""
    entries = [{**ENTRY, "endTime": END, **fields, "responseCode": code} for code in codes]
    return {**EXPORT, "data": {"entries": entries, "meta": {"total": len(entries)}}}


@pytest.mark.parametrize("code", [500, "500", 404.0, "FAILED", 0, False, {"code": 500}], ids=repr)
def test_an_entry_that_failed_is_an_error_with_all_entries(connect: Any, code: Any) -> None:
    response = ended_with(200, code, responseMessage="The destination refused the file")
    # No total is no number of entries.
    response["data"]["meta"] = {}
    updates: list[Any] = []
    with serving(always(http(response))) as server:
        client = connect(server.base_url)
        with pytest.raises(da.SegmentExportError) as caught:
            client.wait_for_segment(7, timeout=20, on_update=updates.append)
        assert client.wait_for_segment(7, timeout=20, check=False)["entries"] == response["data"]["entries"]
        assert len(server.requests) == 2
    error = caught.value
    assert error.entries == updates[0]["entries"] == response["data"]["entries"]
    assert (error.operation, error.retryable) == ("wait_for_segment", False)
    shown = r"\b1 of 2 .*\bexport 7 .*: entry 2 \D*2024-01-15T08:05.* 'The destination refused the file'"
    assert re.search(shown, str(error))
    assert pickle.loads(pickle.dumps(error)).entries == error.entries


@pytest.mark.slow
def test_the_last_look_is_just_before_the_end(connect: Any) -> None:
    with serving(in_turn(http(export(None)), http(export(END)))) as server:
        response = connect(server.base_url).wait_for_segment(7, timeout=1.5, poll=60)
        assert len(server.requests) == 2
    assert response["entries"][0]["endTime"] == END


def test_a_failure_that_succeeds_later_does_not_end_a_wait(connect: Any) -> None:
    failure = http(b"", "502 Bad")
    with serving(in_turn(failure, failure, failure, http(export(END)))) as server:
        client = connect(server.base_url, retry_for=0)
        assert client.wait_for_segment(7, timeout=20, poll=0.01)["entries"]
    with serving(always(failure)) as server, pytest.raises(da.ServerError):
        connect(server.base_url, retry_for=0).wait_for_segment(7, timeout=0.5, poll=0.1)


@pytest.mark.async_only
def test_an_async_on_update_is_awaited(connect: Any) -> None:
    seen: list[int] = []

    async def update(response: dict[str, Any]) -> None:
        await asyncio.sleep(0.01)
        seen.append(len(response["entries"]))
        if len(seen) == 2:
            raise LookupError("enough")

    with serving(always(http(export(None)))) as server, pytest.raises(LookupError, match="enough"):
        connect(server.base_url).wait_for_segment(7, timeout=20, poll=0.01, on_update=update)
    assert seen == [1, 1]


def test_a_coroutine_cannot_be_awaited_by_a_client_that_waits(connect: Any) -> None:
    async def update(_status: object) -> None: ...

    with serving(always(http(export(None)))) as server, pytest.raises(TypeError, match="AsyncClient"):
        connect(server.base_url).wait_for_segment(7, timeout=20, poll=0.01, on_update=update)


def test_a_total_unlike_the_entries_is_reported(connect: Any) -> None:
    with serving(always(http(export(None, total=3)))) as server:
        with pytest.warns(da.IncompleteWarning, match=r"\b3\b.*\b1$"):
            response = connect(server.base_url).download_segment(7)
        assert len(response["entries"]) == 1


@pytest.mark.parametrize("data", [{}, {"entries": None}, {"entries": [{}, 1]}, {"entries": {}}, []])
def test_a_download_without_entries_is_no_result(connect: Any, data: Any) -> None:
    with serving(always(http({**EXPORT, "data": data}))) as server, pytest.raises(kinds.Envelope) as caught:
        connect(server.base_url).download_segment(7)
    assert caught.value.field == "data.entries"
    assert (caught.value.operation, caught.value.attempts) == ("download_segment", 1)


def test_a_client_that_is_closed_ends_its_wait_in_a_pause() -> None:
    paused = threading.Event()
    with serving(always(http(export(None)))) as server, ThreadPoolExecutor(1) as pool:
        client = da.Client(server.base_url, token="tok")
        wait = pool.submit(client.wait_for_segment, 7, timeout=60, poll=50, on_update=lambda _: paused.set())
        assert paused.wait(10)
        client.close()
        with pytest.raises(da.ClientClosedError):
            wait.result(10)


def test_an_async_client_that_is_closed_ends_its_wait_in_a_pause() -> None:
    async def closed_in_a_pause(base_url: str) -> None:
        paused = asyncio.Event()
        async with da.AsyncClient(base_url, token="tok") as client:
            waiting = client.wait_for_segment(7, timeout=60, poll=50, on_update=lambda _: paused.set())
            wait = asyncio.ensure_future(waiting)
            await asyncio.wait_for(paused.wait(), 10)
            await client.close()
            with pytest.raises(da.ClientClosedError):
                await asyncio.wait_for(wait, 10)

    with serving(always(http(export(None)))) as server:
        asyncio.run(closed_in_a_pause(server.base_url))


@pytest.mark.parametrize(
    ("success", "codes"),
    [
        ((200,), [200, "200", 200.0, "200.0", None]),
        ([0], [0, "0", 0.0]),
        ({"SUCCESS"}, ["SUCCESS"]),
        ((200, "201"), [200, 201, "201"]),
    ],
)
def test_an_export_that_ends_with_codes_of_success_succeeded(connect: Any, success: Any, codes: list[Any]) -> None:
    with serving(always(http(ended_with(*codes)))) as server:
        status = connect(server.base_url).wait_for_segment(7, timeout=20, success_codes=success)
    assert status.is_finished
    count = len(codes)
    assert str(status).startswith(f"{count} {'entry' if count == 1 else 'entries'}: {count} finished")
    assert "failed" not in status._repr_html_()


@pytest.mark.parametrize(
    ("success", "code"), [((0,), 200), (["SUCCESS"], "success"), ((200, 201), 202), ((0,), False), ((1,), True)]
)
def test_another_code_is_a_failure_and_ends_the_wait(connect: Any, success: Any, code: Any) -> None:
    response = ended_with(code, None)
    response["data"]["entries"][1]["endTime"] = None
    updates: list[Any] = []
    seen: list[da.Progress] = []
    with serving(always(http(response))) as server:
        wait = partial(connect(server.base_url).wait_for_segment, 7, success_codes=success)
        with pytest.raises(da.SegmentExportError) as caught:
            wait(timeout=20, on_update=updates.append)
        assert len(server.requests) == 1
        # Without the check all entries are waited for.
        with pytest.raises(da.WaitTimeoutError) as waited:
            wait(timeout=0.1, poll=0.05, check=False, progress=seen.append)
    assert waited.value.retryable
    assert {(one.unit, one.total, one.done, one.failed) for one in seen} == {("entries", 2, 1, 1)}
    assert "success_codes" in str(caught.value.hint)
    (status,) = updates
    assert not status.is_finished
    assert str(status).startswith("2 entries: 1 running, 1 failed")
