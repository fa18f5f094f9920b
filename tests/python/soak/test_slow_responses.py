"""Responses that never end, each given up at the true pace."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from support.raw_server import serving
from support.slow_responses import CASES

import dataaccess as da

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]

# From when and until when each is found. The stall rule begins after a grace of 20 seconds and looks at 30.
TIMES = {"headers": (60, 70), "body": (30, 40), "stall": (50, 60)}


def test_every_response_that_never_ends_is_given_up_in_its_time() -> None:
    def given_up(case: str) -> tuple[str, da.RequestTimeoutError]:
        with (
            serving(CASES[case][0]) as server,
            da.Client(server.base_url, token="tok", retry_for=0, timeout=65, concurrency=None) as client,
            pytest.raises(da.RequestTimeoutError) as caught,
        ):
            client.search_codes(["id"], allocated_time=da.on("2024-01-15"))
        return case, caught.value

    with ThreadPoolExecutor(len(CASES)) as pool:
        for case, error in pool.map(given_up, CASES):
            phase = CASES[case][1]
            assert error.phase == phase, case
            earliest, latest = TIMES[phase]
            assert earliest <= error.elapsed < latest, case
