"""HTTP 200 with an empty body or an HTML page is retried as a 502 is, where the service has answered properly before.

Source: a trial of nightly jobs.
"""

from __future__ import annotations

import pytest
from support import kinds
from support.raw_server import always, http, in_turn, serving

import dataaccess as da

DAY = da.on("2024-01-15")
OTHERS = {"page": http(b"<html>Maintenance</html>"), "nothing": http(b"")}


@pytest.mark.parametrize("other", OTHERS)
def test_it_is_retried_where_the_service_has_answered(other: str) -> None:
    wrong = OTHERS[other]
    with serving(in_turn(http(), wrong, wrong, wrong, http())) as server:
        client = da.Client(server.base_url, token="t")
        for _ in range(2):
            assert client.search_codes(["id"], allocated_time=DAY)
        assert len(server.requests) == 5


def test_a_page_as_the_first_response_is_final() -> None:
    with serving(always(OTHERS["page"])) as server:
        with pytest.raises(kinds.NotJson) as caught:
            da.Client(server.base_url, token="t").search_codes(["id"], allocated_time=DAY)
        assert (caught.value.retryable, len(server.requests)) == (False, 1)
        assert caught.value.hint
