"""Scans whose lists are split into small parts, so that few values need several requests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from dataaccess import _native


@contextmanager
def values_per_request(count: int) -> Iterator[None]:
    """The most values of a list in one request of the scans that are made meanwhile."""
    _native.set_values_per_request(count)
    try:
        yield
    finally:
        _native.set_values_per_request(None)


def in_parts(count: int, make: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Makes a scan that sends at most `count` values of a list in one request."""
    with values_per_request(count):
        return make(*arguments, **keywords)
