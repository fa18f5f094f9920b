"""Fixtures of the tests of scans."""

from collections.abc import Iterator

import pytest
from support.runs import service, store
from support.scan_requests import path, unchanged_folder
from support.zones import PLATFORMS, Platform

__all__ = ["path", "service", "store", "unchanged_folder"]


@pytest.fixture(scope="module", params=PLATFORMS, ids=lambda platform: platform.name)
def platform(request: pytest.FixtureRequest) -> Iterator[Platform]:
    with request.param.started() as platform:
        yield platform
