"""A faster clock, for tests that wait between attempts and are not about how long."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dataaccess import _native


@pytest.fixture
def short_pauses() -> Iterator[None]:
    """Back-off and time-outs of new clients run ten times faster, if the extension has the feature `testing`."""
    set_time_scale = getattr(_native, "set_time_scale", lambda _times: None)
    set_time_scale(10)
    yield
    set_time_scale(1)
