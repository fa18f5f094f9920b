"""Tasks of the demo data, and their way to another process."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import dataaccess as da

DAYS = da.days("2024-01-10", "2024-01-20")


def bare(held: Any) -> Any:
    """What tests of asyncio hold wrapped."""
    return getattr(held, "client", held)


def travelled(held: Any) -> Any:
    """The same task as in another process."""
    copy = pickle.loads(pickle.dumps(bare(held)))
    return copy if bare(held) is held else type(held)(copy, held._runner)


def by_day(client: Any, **options: Any) -> Any:
    return client.scan_codes(["id", "pool_id", "allocated_time"], allocated_time=DAYS, **options)


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, sandbox: da.Sandbox) -> str:
    """The demo data as a client finds it that knows no token: in the environment."""
    token = sandbox.issue_token()
    monkeypatch.setenv("DATAACCESS_TOKEN", token)
    monkeypatch.setenv("DATAACCESS_BASE_URL", sandbox.base_url)
    return token
