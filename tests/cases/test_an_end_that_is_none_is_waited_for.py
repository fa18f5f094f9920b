"""An `endTime` that is blank or before the start is no end: the wait goes on, and a warning names it.

Source: API specification 2.5 and 3.2: `endTime` is null while unfinished. A trial of nightly jobs.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import ENTRY, EXPORT, always, http, in_turn, serving

import dataaccess as da

ENDS = ["", "  ", "0001-01-01T00:00:00Z", "2024-01-15T07:59:59.000Z"]


def export(**members: Any) -> bytes:
    return http({**EXPORT, "data": {"entries": [{**ENTRY, **members}], "meta": {"total": 1}}})


@pytest.mark.parametrize("end", ENDS)
def test_the_wait_goes_on(end: str) -> None:
    ended = export(endTime="2024-01-15T08:00:01.000Z", responseCode=200)
    with serving(in_turn(export(endTime=end), export(endTime=end), ended)) as server:
        client = da.Client(server.base_url, token="t")
        with pytest.warns(da.IncompleteWarning, match="endTime") as caught:
            status = client.wait_for_segment(7, timeout=20, poll=0.01)
        assert len(server.requests) == 3
    assert len(caught) == 1
    assert status["entries"][0]["responseCode"] == 200


@pytest.mark.parametrize("end", ENDS)
def test_the_status_shows_it_as_running(end: str) -> None:
    with serving(always(export(endTime=end))) as server, pytest.warns(da.IncompleteWarning, match="endTime"):
        status = da.Client(server.base_url, token="t").download_segment(7)
    assert "1 running" in str(status)
    assert "-6384" not in str(status)


def test_a_number_is_an_end() -> None:
    with serving(always(export(endTime=1705305601000, responseCode=200))) as server:
        status = da.Client(server.base_url, token="t").wait_for_segment(7, timeout=5)
    assert "1 finished" in str(status)
