"""An `endTime` that is blank or before the start is no end: the wait goes on, and a warning names it.

Source: API specification 2.5 and 3.2: `endTime` is null while unfinished.
"""

from __future__ import annotations

from typing import Any

import pytest
from support.raw_server import ENTRY, EXPORT, http

import dataaccess as da


def export(end: Any) -> bytes:
    entry = {**ENTRY, "endTime": end, "responseCode": 200 if end else None}
    return http({**EXPORT, "data": {"entries": [entry], "meta": {"total": 1}}})


@pytest.mark.parametrize("end", ["", "  ", "0001-01-01T00:00:00Z", "2024-01-15T07:59:59.000Z"])
def test_the_wait_goes_on(client_of: Any, end: str) -> None:
    client = client_of(export(end), export(end), export("2024-01-15T08:00:01.000Z"))
    with pytest.warns(da.IncompleteWarning, match="endTime") as caught:
        client.wait_for_segment(7, timeout=20, poll=0.01)
    assert (client.stats.requests, len(caught)) == (3, 1)
    with pytest.warns(da.IncompleteWarning, match="endTime"):
        assert "1 running" in str(client_of(export(end)).download_segment(7))


def test_a_number_is_an_end(client_of: Any) -> None:
    assert "1 finished" in str(client_of(export(1705305601000)).wait_for_segment(7, timeout=5))
