"""Fixtures of the cases. A case is one small file: what a user did, the right value, and the source in a line.

A case speaks of what users see: it calls the package against the sandbox or a server of raw sockets, and names no
private module. A case that fails is a defect of the product, not of the case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from support.environment import no_settings_from_outside, now, sandbox, short_pauses, time_scale
from support.raw_server import in_turn, serving
from support.streams import response_of

import dataaccess as da

__all__ = ["no_settings_from_outside", "now", "sandbox", "short_pauses", "time_scale"]

OPTIONS: dict[str, Any] = {"token": "tok-0123456789", "timezone": "UTC", "retry_for": 0, "item_types": {"store": 7}}


@pytest.fixture
def client_of() -> Iterator[Callable[..., da.Client]]:
    """Makes a client of a service whose responses these are, as bytes or as lists of records; the last one stays."""
    with ExitStack() as stack:

        def make(*responses: Any, **options: Any) -> da.Client:
            given = [each if isinstance(each, bytes) else response_of(each) for each in responses]
            server = stack.enter_context(serving(in_turn(*given)))
            return da.Client(server.base_url, **{**OPTIONS, **options})

        yield make
