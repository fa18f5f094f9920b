"""The day of a request, for a service whose response depends on it."""

from __future__ import annotations

import re
from datetime import UTC, datetime


def day_of(request: str) -> str:
    """The day that a request is for."""
    found = re.search(r'"value":(\d{13})\b', request)
    assert found, request
    return str(datetime.fromtimestamp(int(found[1]) / 1000, UTC).date())
