"""The full figures: more bad sockets than the server accepts, while a good client is served."""

from __future__ import annotations

import pytest
from support.slow_loris import longest_response

import dataaccess as da

pytestmark = [pytest.mark.soak, pytest.mark.timeout(300)]


def test_three_hundred_dripping_sockets_keep_a_good_client_out_no_longer_than_their_time() -> None:
    with da.Sandbox.demo(until="2024-02-29") as sandbox:
        assert longest_response(sandbox, sockets=300, seconds=30) < 16
