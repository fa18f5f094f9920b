"""Scans of several requests: how many are in flight, back-pressure and rate."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest
from support.scan_requests import (
    FORMS,
    Asked,
    good,
    parted,
    rows_of_all,
    scan_of_parts,
)
from support.scan_waits import LONG, by_number

import dataaccess as da

pytestmark = pytest.mark.usefixtures("short_pauses")

every_form = pytest.mark.parametrize("form", FORMS)


@every_form
def test_as_many_requests_as_wanted_are_in_flight_and_no_more(connect: Any, form: str) -> None:
    together = threading.Barrier(4)

    def answers(asked: Asked) -> bytes:
        # Broken when fewer are sent: this one would wait in vain.
        together.wait(LONG)
        return good(asked)

    with parted(answers) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=4), 12)
        assert FORMS[form](scan) == rows_of_all(12)
        assert parts.most == 4


def test_one_at_a_time_is_one_at_a_time(connect: Any) -> None:
    with parted(good) as parts:
        client = connect(parts.base_url, concurrency=1)
        for form in FORMS.values():
            assert form(scan_of_parts(client, 5)) == rows_of_all(5)
        assert parts.most == 1
        assert parts.asked == [*range(5)] * len(FORMS)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_slow_consumer_slows_the_requests(connect: Any, ordered: bool) -> None:  # noqa: FBT001 - a parameter
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=3), 12, ordered=ordered)
        rows: list[dict[str, Any]] = []
        for taken, batch in enumerate(scan.batches(), start=1):
            rows.extend(batch.to_dicts())
            time.sleep(0.05)
            assert len(parts.asked) <= taken + 3, "more answers wait than may be under way"
    assert by_number(rows) == rows_of_all(12)
    assert parts.most <= 3


def test_an_unread_stream_stops_the_requests(connect: Any) -> None:
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url, concurrency=3), 40)
        with scan.batches() as batches:
            assert next(iter(batches)).num_rows == 2
            time.sleep(0.5)
            assert len(parts.asked) <= 1 + 3
        asked = len(parts.asked)
        time.sleep(0.2)
        assert len(parts.asked) == asked
        with pytest.raises(da.StreamInterruptedError, match="closed after 2 rows"):
            next(iter(batches))


@every_form
def test_the_rate_is_that_of_all_requests(connect: Any, form: str) -> None:
    with parted(good) as parts:
        scan = scan_of_parts(connect(parts.base_url, rate=20), 6)
        begun = time.monotonic()
        assert FORMS[form](scan) == rows_of_all(6)
        assert time.monotonic() - begun >= 5 / 20
