"""Runs with failures (S6 to S9): what is kept, what is reported, and how the next run continues."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from support.raw_server import Close, http
from support.runs import (
    ROWS,
    by_day,
    by_value,
    failed_for_good,
    responding,
    rows_in,
    tasks_done,
    values_asked,
)
from support.service_machine import Tokens
from support.streams import HEAD, response_of

import dataaccess as da

# Requests a second: the run does not wait for `progress`, which has to act before the last of eight.
RATE = 10


@pytest.mark.fault("S6")
def test_a_token_that_expires_during_a_run_is_renewed(connect: Any, service: da.Sandbox, tmp_path: Path) -> None:
    tokens = Tokens(service)

    def on_progress(progress: da.Progress) -> None:
        if progress.done in {2, 5}:
            tokens.revoke()

    client = connect(service.base_url, token=tokens, concurrency=2, requests_per_second=RATE)
    report = by_day(client).to_folder(tmp_path, progress=on_progress)
    assert report.rows == len(rows_in(tmp_path)) == ROWS
    # One that nobody asked for, and one after each end.
    assert len(tokens.issued) == 1 + 3
    refused = sum(request.status == 403 for request in service.requests)
    assert 2 <= refused <= 4
    assert len(service.requests) == 8 + refused


def test_without_another_token_the_run_ends_and_continues_with_one(
    connect: Any, service: da.Sandbox, tmp_path: Path
) -> None:
    token = service.issue_token()

    def on_progress(progress: da.Progress) -> None:
        if progress.done == 3:
            service.revoke(token)

    client = connect(service.base_url, token=token, concurrency=2, requests_per_second=RATE)
    with pytest.raises(da.PermissionDeniedError) as caught:
        by_day(client).to_folder(tmp_path, progress=on_progress)
    assert caught.value.code == 301
    assert token not in str(caught.value)
    kept = tasks_done(tmp_path)
    assert 3 <= len(kept) < 8
    service.clear_requests()
    report = by_day(connect(service)).to_folder(tmp_path)
    assert [task.day for task in report.files if task.state == "kept"] == sorted(name[:10] for name in kept)
    assert len(service.requests) == 8 - len(kept)
    assert len(rows_in(tmp_path)) == ROWS


CUTS = 40
LONG = 70_001


@pytest.mark.fault("S7")
@pytest.mark.slow
def test_a_response_that_is_cut_off_anywhere_is_retried(connect: Any, tmp_path: Path) -> None:
    values = [str(number) for number in range(CUTS)]
    # The last of them is longer than what is written at a time.
    rows = {value: 60 + int(value) for value in values} | {values[-1]: LONG}
    records = {value: [{"n": n, "text": f"of {value}"} for n in range(rows[value])] for value in values}

    def give(connection: Any, value: str, before: int) -> None:
        whole = response_of(records[value]).partition(b"\r\n\r\n")[2]
        place = len(whole) * (2 * int(value) + 1) // (2 * CUTS)
        connection.sendall(HEAD + (whole if before else whole[:place]))
        raise Close

    with responding(give) as server:
        report = by_value(connect(server.base_url), values).to_folder(tmp_path)
        assert len(server.requests) == 2 * CUTS
    assert report.retries == CUTS
    assert [task.rows for task in report.files] == list(rows.values())
    assert rows_in(tmp_path) == [record for value in values for record in records[value]]


@pytest.mark.fault("S8")
def test_a_run_is_no_snapshot(connect: Any, tmp_path: Path) -> None:
    forward, back = {"n": 1, "text": "forward"}, {"n": 3, "text": "back"}
    records: dict[str, list[dict[str, Any]]] = {"1": [forward], "2": [], "3": [back]}

    def give(connection: Any, value: str, _before: int) -> None:
        if value == "2":
            # The rows change places before the last request.
            records.update({"1": [back], "3": [forward]})
        connection.sendall(response_of(records[value]))

    with responding(give) as server:
        scan = by_value(connect(server.base_url, concurrency=1), list(records))
        scan.to_folder(tmp_path)
        # One row was seen in both of its places, the other in none.
        assert rows_in(tmp_path) == [forward, forward]
        # What is done is not looked at again.
        assert scan.to_folder(tmp_path).rows == 2


@pytest.mark.fault("S9")
def test_tasks_that_fail_permanently_do_not_end_the_others(connect: Any, tmp_path: Path) -> None:
    bad = {"17", "42"}

    def give(connection: Any, value: str, _before: int) -> None:
        refusal = http({"code": 404, "message": "there is no such thing", "data": None}, "404 Not Found")
        connection.sendall(refusal if value in bad else response_of([{"n": int(value), "text": "x"}]))

    values = [str(number) for number in range(50)]
    seen: list[da.Progress] = []
    with responding(give) as server:
        scan = by_value(connect(server.base_url), values)
        with pytest.raises(da.ScanIncompleteError) as caught:
            scan.to_folder(tmp_path, progress=seen.append)
        error = pickle.loads(pickle.dumps(caught.value))
        assert (seen[-1].done, seen[-1].failed) == (48, 2)
        assert failed_for_good(error) == [17, 42]
        assert {type(each) for each in error.failed.values()} == {da.RequestRejectedError}
        assert error.report.rows == len(error.report.files) == 48
        assert error.report == caught.value.report
        assert not error.retryable
        assert caught.value.__cause__ is next(iter(caught.value.failed.values()))
        bad.clear()
        assert scan.to_folder(tmp_path).rows == 50
        assert sorted(values_asked(server)[50:]) == ["17", "42"]
    assert [row["n"] for row in rows_in(tmp_path)] == list(range(50))
