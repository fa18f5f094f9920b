"""Demo data of any days: the same rows of a day everywhere, statuses that move, days that are added."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import date
from typing import Any

import pytest

import dataaccess as da

ATTRS = [
    "id", "name", "pool_id", "date_created", "allocated_time", "allocated_audience", "audience_type", "code_status",
    "last_used_source", "last_used_time", "channel_id",
]  # fmt: skip
ALL = da.after("2000-01-01")
NOON = "2026-05-20T12:00:00"
# Of all rows with an allocated_time as they were when the demo data was January and February 2024 alone.
DIGEST = "8252b2f0517f9c49ca4117f0abdddef5c91eb07125b9ed049107f4c1169f5988"


def rows_of(sandbox: da.Sandbox, time: Any = ALL) -> list[dict[str, Any]]:
    return sandbox.client().search_codes(ATTRS, allocated_time=time)


def digest(rows: list[dict[str, Any]]) -> str:
    return hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()


def test_the_days_up_to_the_leap_day_have_the_rows_that_they_always_had() -> None:
    with da.Sandbox.demo(until=date(2024, 2, 29)) as sandbox:
        rows = rows_of(sandbox)
    assert (len(rows), digest(rows)) == (4213, DIGEST)


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
def test_the_address_chooses_the_days(monkeypatch: pytest.MonkeyPatch) -> None:
    fixed, others = da.Client("sandbox:demo?until=2024-02-29"), da.Client("sandbox:demo?until=2024-03-01")
    assert len(fixed.search_codes(allocated_time=ALL)) == 4213
    assert fixed.search_codes(allocated_time=da.on("2024-03-01")) == []
    assert len(others.search_codes(allocated_time=da.on("2024-03-01"))) > 60
    assert fixed.base_url == da.Client("sandbox:demo?until=2024-02-29").base_url != others.base_url
    assert len(da.Client("sandbox:demo").search_codes(allocated_time=da.yesterday())) > 60
    monkeypatch.setenv("DATAACCESS_BASE_URL", "sandbox:demo?until=2024-02-29")
    assert len(da.search_codes(allocated_time=da.on("2024-01-15"))) == 73
    assert fixed.is_sandbox
    assert repr(fixed) == "Client('sandbox:demo?until=2024-02-29', token from the sandbox)"


@pytest.mark.filterwarnings("ignore::dataaccess.SandboxWarning")
@pytest.mark.parametrize("until", ["2024-02-30", "2023-12-31", "2024-2-9", "20240229"])
def test_another_day_is_refused(until: str) -> None:
    starts: dict[str, Callable[[], object]] = {
        "until": lambda: da.Sandbox.demo(until=until),
        "base_url: until": lambda: da.Client(f"sandbox:demo?until={until}"),
    }
    for named, start in starts.items():
        with pytest.raises(da.ConfigError, match=rf"^{named} .*\b2024-01-01 .*\b2024-02-29$"):
            start()


def test_a_code_that_was_sent_is_used_days_later() -> None:
    with da.Sandbox.demo(now=NOON) as sandbox:
        before = {row["id"]: row for row in rows_of(sandbox)}
        sandbox.advance(days=3)
        after = {row["id"]: row for row in rows_of(sandbox)}
        changed = [row for key, row in before.items() if after[key] != row]
        assert len(changed) > 30
        for row in changed:
            now = after[row["id"]]
            used = {"code_status": 4, "last_used_source": now["last_used_source"]}
            assert now == {**row, **used, "last_used_time": now["last_used_time"]}
            assert row["code_status"] == 3
            assert "2026-05-20 12:00:00" < now["last_used_time"] <= "2026-05-23 12:00:59"
        assert all(row["code_status"] == 4 for row in after.values() if row["last_used_time"])


def test_rows_of_the_user_stay_and_removed_ones_do_not_return() -> None:
    with da.Sandbox.demo(now=NOON) as sandbox:
        sent = next(row for row in rows_of(sandbox, da.on("2026-05-19")) if row["code_status"] == 3)
        mine = {**sent, "name": "mine"}
        sandbox.load("promotion_code", [mine], replace=True)
        sandbox.advance(days=20)
        assert mine in rows_of(sandbox)
        sandbox.clear("promotion_code")
        sandbox.advance(days=20)
        assert rows_of(sandbox) == []
